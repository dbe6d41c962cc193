"""What can be said of one unit's file alone; the same bytes at the same path give the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evidence.domain.codec import MAX_FILE_BYTES, parse_curated_markdown
from evidence.domain.dialects import foreign_words
from evidence.domain.findings import ValidationFinding, finding, finding_of
from evidence.domain.fragments import MAX_CHUNK_CHARS, AtomicContentTooLarge, render_fragments
from evidence.domain.identifiers import ID_PREFIX, slug_from_id, unit_path
from evidence.domain.normalization import InvalidUtf8, decode_utf8, source_hash
from evidence.domain.text import normalize_text
from evidence.domain.text_findings import suspicions_of
from evidence.domain.units import CuratedEvidence, UnitInvalid
from evidence.messages import gettext_noop

MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class UnitInspection:
    """A file under `curated/`; `unit` is None when it does not parse.

    `evidence_id` is the unit's, or the one that the name of a broken file claims, so that the
    manifest and the exam are not blamed for it. `sha256` is that of the normalized file of a unit
    that parses, as a dismissal names it.
    """

    path: str
    evidence_id: str
    unit: CuratedEvidence | None
    findings: tuple[ValidationFinding, ...]
    sha256: str = ""


def inspect_unit(
    path: str, data: bytes, *, max_chunk_chars: int = MAX_CHUNK_CHARS
) -> UnitInspection:
    """Read one unit and judge all that needs no other file, open review items included."""
    claimed = ID_PREFIX + path.rpartition("/")[2].removesuffix(".md")
    if len(data) > MAX_FILE_BYTES:
        template = gettext_noop("The file holds %(size)s bytes; at most %(limit)s are allowed.")
        large = finding("unit_too_large", path, template, size=len(data), limit=MAX_FILE_BYTES)
        return UnitInspection(path, claimed, None, (large,))
    try:
        text = decode_utf8(data)
    except InvalidUtf8 as fault:
        return UnitInspection(path, claimed, None, (finding_of(fault, path),))
    suspicions = tuple(suspicions_of(path, text))
    try:
        unit = parse_curated_markdown(text, path=path)
    except UnitInvalid as fault:
        return UnitInspection(path, claimed, None, (*_problems(fault, path), *suspicions))
    findings = (*_of_place(path, unit), *suspicions, *_of_content(path, unit, max_chunk_chars))
    return UnitInspection(path, unit.id, unit, findings, source_hash(normalize_text(text)))


def _problems(fault: UnitInvalid, path: str) -> Iterator[ValidationFinding]:
    yield finding_of(fault, path)
    for problem in fault.problems[1:MAX_PROBLEMS]:
        template = gettext_noop("%(field)s: %(problem)s")
        yield finding(fault.code, path, template, field=problem.field, problem=problem.message)


def _of_place(path: str, unit: CuratedEvidence) -> Iterator[ValidationFinding]:
    parts = path.split("/")
    if len(parts) != 3 or parts[2] != f"{slug_from_id(unit.id)}.md":
        template = gettext_noop("This unit belongs at %(expected)s.")
        yield finding("unit_path_mismatch", path, template, expected=unit_path(unit.kind, unit.id))
    if len(parts) == 3 and parts[1] != unit.kind.value:
        template = gettext_noop("The unit is a %(kind)s, and lies in the folder %(folder)s.")
        yield finding(
            "kind_directory_mismatch", path, template, kind=unit.kind.value, folder=parts[1]
        )


def _of_content(path: str, unit: CuratedEvidence, limit: int) -> Iterator[ValidationFinding]:
    try:
        render_fragments(unit, limit)
    except AtomicContentTooLarge as fault:
        yield finding_of(fault, path)
    words = foreign_words(unit.payload)
    if words:
        template = gettext_noop("This SQL may not be PostgreSQL: %(words)s.")
        yield finding("dialect_uncertain", path, template, words=", ".join(words[:MAX_PROBLEMS]))
    for item in unit.review_items:
        template = gettext_noop("Open review item %(code)s: %(message)s")
        yield finding("review_item_open", path, template, code=item.code, message=item.message)
