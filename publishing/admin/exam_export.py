"""An exam to take away: the report as JSON, and a table that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Final

from django.http import HttpResponse

from publishing.models import Evaluation

FORMULAS: Final = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20", "\t", "\r", "\n")
"""What a formula begins with to a spreadsheet, full-width signs too (OWASP, CSV Injection)."""
HEADINGS: Final = (
    *("id", "query", "profile", "purpose", "hit_at_5", "hit_at_10"),
    *("evidence_id", "dense_rank", "bm25_rank", "fused_rank"),
)


def as_json(row: Evaluation) -> HttpResponse:
    """Give the report exactly as it is kept (spec 50, Evaluation)."""
    data = json.dumps(row.report, ensure_ascii=False, indent=2)
    return _file(row, data + "\n", kind="application/json", suffix="json")


def as_csv(row: Evaluation) -> HttpResponse:
    """Give one line an expected unit; no cell can be taken for a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADINGS)
    writer.writerows([defused(cell) for cell in line] for line in _lines(row))
    return _file(row, "\ufeff" + out.getvalue(), kind="text/csv", suffix="csv")


def defused(cell: object) -> str:
    """Give a cell as text; one that a spreadsheet would calculate gets an apostrophe before it."""
    text = "" if cell is None else str(cell)
    return f"'{text}" if text.startswith(FORMULAS) else text


def _lines(row: Evaluation) -> Iterator[list[object]]:
    for entry in row.report.get("queries", ()):
        query = row.answers.get(entry["id"], {}).get("query", "")
        head = [entry["id"], query, *(entry[name] for name in HEADINGS[2:6])]
        for each in entry["expected"]:
            yield [*head, *(each[name] for name in HEADINGS[6:])]


def _file(row: Evaluation, text: str, *, kind: str, suffix: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    name = f"evaluation-{row.workspace}-{row.pk}.{suffix}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
