"""Somebody was faster: what both changed, in one form, and beside it what they disagree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.http import QueryDict

from evidence.admin.differences import Word, words_changed
from evidence.admin.files import unit_file
from evidence.admin.unit_forms.form import UnitFieldsForm
from evidence.domain.typed_merging import MergedFields, merge_fields
from evidence.domain.typed_units import Typed, is_covered, typed
from evidence.domain.units import CuratedEvidence
from evidence.models import UnitRecord
from evidence.ports import EditConflict
from evidence.translation import sentence


@dataclass(frozen=True, slots=True)
class Dispute:
    """A field that both changed: the version both opened, theirs, and what they changed."""

    base: str
    theirs: str
    changes: Sequence[Word]


@dataclass(frozen=True, slots=True)
class Conflict:
    """The form to look at before saving again.

    Without `is_merged` their version has no such form, and what they wrote is in `their_text`.
    """

    form: UnitFieldsForm
    code: str
    text: str
    is_merged: bool = False
    taken_over: Sequence[str] = ()
    disputes: Mapping[str, Dispute] = field(default_factory=dict)
    their_text: str = ""


def conflict_of(record: UnitRecord, form: UnitFieldsForm, fault: EditConflict) -> Conflict:
    """Merge what was typed with the file as it stands now.

    The guard moves on to their version, which whoever saves again has seen: both are read from
    the row, so that a third edit in between is a conflict again.
    """
    text = sentence(fault.message)
    now = UnitRecord.objects.select_related("workspace").filter(pk=record.pk).first()
    if now is None:
        return Conflict(form, fault.code, text)
    file = unit_file(now)
    if file.unit is None or file.unit.kind is not form.opened.kind or not is_covered(file.unit):
        return Conflict(form, fault.code, text, their_text=file.text)
    base, theirs = typed(form.opened), typed(file.unit)
    merged = merge_fields(base, form.typed(), theirs)
    return Conflict(
        _form_of(form, merged, file.unit, now.blob),
        fault.code,
        text,
        is_merged=True,
        taken_over=[str(form.wordings[name].label) for name in merged.taken_over],
        disputes={name: _dispute(name, base, theirs) for name in merged.disputed},
    )


def _form_of(
    form: UnitFieldsForm, merged: MergedFields, theirs: CuratedEvidence, blob: str
) -> UnitFieldsForm:
    data = QueryDict(mutable=True)
    data["blob"] = blob
    for name, value in merged.fields.items():
        data.setlist(name, [value] if isinstance(value, str) else list(value))
    # Doubts are settled by their place in the list: another list, other places.
    if theirs.review_items == form.opened.review_items:
        data.setlist("settled", form.cleaned_data["settled"])
    return UnitFieldsForm(data, opened=theirs)


def _dispute(name: str, base: Typed, theirs: Typed) -> Dispute:
    old, new = _shown(base[name]), _shown(theirs[name])
    return Dispute(old, new, words_changed(old, new))


def _shown(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else "\n".join(value)
