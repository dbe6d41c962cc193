"""Two units that a warning is about, side by side as a page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.core.exceptions import SuspiciousOperation
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from evidence.admin.files import UnitFile, unit_files
from evidence.admin.pages import address
from evidence.admin.rendering import render_markdown
from evidence.admin.typed_view import Part, parts
from evidence.admin.wording import kind_label
from evidence.dismissing import Warned
from evidence.domain.dismissals import DISMISSIBLE
from evidence.models import FindingRecord, UnitRecord, Workspace
from evidence.translation import filled

AT_ONCE: Final = 100
"""So many warnings may be looked at, and dismissed, together."""
QUESTIONS: Final[Mapping[str, str | Promise]] = {
    "near_duplicate": _("Two units say nearly the same"),
    "conflicting_formula": _("Two formulas disagree"),
    "conflicting_enum": _("Two lists of values disagree"),
    "conflicting_term": _("Two explanations of one term disagree"),
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two units, with what its file says where that can be read."""

    record: UnitRecord
    kind: str
    parts: tuple[Part, ...] = ()
    body: SafeString | str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A warning that still stands, with both units."""

    warned: Warned
    question: str | Promise
    text: str
    sides: tuple[Side, ...]


def compare_address(workspace: Workspace, finding: FindingRecord) -> str:
    """Give where the two units of a warning are compared; "" for what is not about two."""
    for each in warned_by([finding]):
        names = {"code": each.code, "path": each.path, "other": each.other}
        query = urlencode({"workspace": workspace.slug} | names)
        return f"{address('evidence_findingrecord_dismiss')}?{query}"
    return ""


def warned_by(findings: Iterable[FindingRecord]) -> list[Warned]:
    """Give the warnings about two units among these, each pair of units once."""
    found: dict[tuple[str, frozenset[str]], Warned] = {}
    for row in findings:
        if row.code in DISMISSIBLE:
            warned = Warned(row.code, row.path, str(row.values.get("other", "")))
            found.setdefault((row.code, frozenset({warned.path, warned.other})), warned)
    return list(found.values())


def asked_for(data: QueryDict) -> list[Warned]:
    """Read the warnings that an address or a form names. Raises 400 for none, or too many."""
    columns = [data.getlist(name) for name in ("code", "path", "other")]
    if len({len(column) for column in columns}) != 1 or not 0 < len(columns[0]) <= AT_ONCE:
        raise SuspiciousOperation("no warnings are named")
    if any("\0" in value for column in columns for value in column):
        raise SuspiciousOperation("NUL in a name")
    return [Warned(*values) for values in zip(*columns, strict=True)]


def pairs_of(workspace: Workspace, asked: Sequence[Warned]) -> list[Pair]:
    """Give those of the warnings that still stand; two queries and one reading of files."""
    paths = {path for each in asked for path in (each.path, each.other)}
    rows = UnitRecord.objects.select_related("workspace").filter(
        workspace=workspace, path__in=paths
    )
    files = {file.record.path: file for file in unit_files(list(rows))}
    found = FindingRecord.objects.filter(workspace=workspace, code__in=DISMISSIBLE, path__in=paths)
    texts = {
        warned: filled(row.template, row.values) for row in found for warned in warned_by([row])
    }
    return [
        Pair(
            warned=each,
            question=QUESTIONS[each.code],
            text=texts[each],
            sides=tuple(_side(files[path]) for path in (each.path, each.other) if path in files),
        )
        for each in asked
        if each in texts
    ]


def _side(file: UnitFile) -> Side:
    record, unit = file.record, file.unit
    if unit is None:
        return Side(record, kind_label(record.kind))
    return Side(
        record=record,
        kind=kind_label(record.kind),
        parts=parts(unit),
        body=render_markdown(unit.body) if unit.body else "",
    )
