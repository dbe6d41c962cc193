"""Tables and lists as the text of one field, in the way spreadsheets put them on the clipboard."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

Row = tuple[str, ...]

_QUOTED = re.compile(r'"((?:[^"]|"")*+)"(?=[\t\n]|\Z)')
_BARE = re.compile(r"[^\t\n]*")


def written_rows(rows: Iterable[Sequence[str]]) -> str:
    """Give rows as lines of cells with a tab between; at least two cells a row.

    A cell with a tab or a line end stands in quotes, as a spreadsheet writes it.
    """
    kept = [tuple(row) for row in rows]
    plain = "\n".join("\t".join(map(_quoted_if_needed, row)) for row in kept)
    if '"' not in plain or tuple(read_rows(plain)) == tuple(kept):
        return plain
    return "\n".join("\t".join(map(_quoted_if_doubtful, row)) for row in kept)


def read_rows(text: str) -> Iterator[Row]:
    """Give the rows of a text, empty ones left out.

    A line without a tab is read with `;`, or else `,`, between its cells: nobody can type a tab
    into a field of a page.
    """
    text = line_ends(text)
    place = 0
    while place < len(text):
        row, place = _row(text, place)
        cells = _divided(row[0]) if len(row) == 1 else row
        if any(cells):
            yield cells


def written_list(entries: Iterable[str]) -> str:
    """Give entries as lines; one with a line end in it stands in quotes."""
    kept = tuple(entries)
    plain = "\n".join(map(_quoted_if_needed, kept))
    if tuple(read_list(plain)) == kept:
        return plain
    return "\n".join(map(_quoted_if_doubtful, kept))


def read_list(text: str) -> Iterator[str]:
    """Give the entries of a text, one a line; blank lines are left out."""
    text = line_ends(text)
    place = 0
    while place < len(text):
        row, place = _row(text, place)
        entry = "\t".join(row)
        if entry.strip():
            yield entry


def line_ends(text: str) -> str:
    """Give a text with LF line ends: a browser posts CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _row(text: str, place: int) -> tuple[Row, int]:
    """Give the cells of the row that begins here, and where the next one begins."""
    cells = []
    while True:
        cell, place = _cell(text, place)
        cells.append(cell)
        if not text.startswith("\t", place):
            return tuple(cells), place + 1
        place += 1


def _cell(text: str, place: int) -> tuple[str, int]:
    found = _QUOTED.match(text, place)
    inside = found[1].replace('""', '"') if found else ""
    # Quotes that nothing made necessary are part of what was typed.
    if found is None or not _is_doubtful(inside):
        found = _BARE.match(text, place)
        assert found is not None  # noqa: S101 - it matches nothing too
        inside = found[0]
    return inside, found.end()


def _divided(line: str) -> Row:
    """Cut a line that has no tab, as a spreadsheet reads CSV."""
    if not line.strip():
        return ()
    divider = ";" if ";" in line else ","
    try:
        cells = next(csv.reader([line], delimiter=divider, skipinitialspace=True), [])
    except csv.Error:
        return (line,)
    return tuple(cell.strip() for cell in cells)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def _quoted_if_needed(cell: str) -> str:
    return _quoted(cell) if "\t" in cell or "\n" in cell else cell


def _quoted_if_doubtful(cell: str) -> str:
    return _quoted(cell) if _is_doubtful(cell) else cell


def _is_doubtful(cell: str) -> bool:
    return "\t" in cell or "\n" in cell or cell.startswith('"')
