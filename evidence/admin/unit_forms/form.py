"""The form of a unit's kind: it refuses what the unit's own rules refuse, at the field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evidence.admin.unit_forms.remarks import remark_at
from evidence.admin.unit_forms.wording import Wording, wordings
from evidence.admin.wording import PURPOSES, doubts
from evidence.domain.cells import line_ends
from evidence.domain.codec import dump_curated_markdown
from evidence.domain.problems import Problem
from evidence.domain.sql_remarks import SqlRemark
from evidence.domain.typed_units import (
    MAX_FIELD_CHARS,
    ROWS,
    FieldPlace,
    Typed,
    place_of_problem,
    unit_of,
)
from evidence.domain.units import CuratedEvidence, UnitInvalid
from evidence.faults import CuratorFault
from evidence.translation import sentence

MOST_MARKS: Final = 20
"""A pasted table may be wrong in every row: nobody reads more at once."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing that is wrong: the words, the stable code, and the place, down to the SQL.

    `row` counts from 1; 0 is none.
    """

    text: str
    code: str
    name: str = ""
    label: str = ""
    where: str = ""
    row: int = 0
    remark: SqlRemark | None = None


class TypedText(forms.CharField):
    """Text as it was typed: what it may hold is said by the unit's rules alone."""

    def __init__(self, **options: Any) -> None:
        """Take a field's options; nothing is stripped and nothing refused here but length."""
        super().__init__(required=False, strip=False, **options)
        self.validators = []

    def to_python(self, value: Any) -> str:
        """Give the text with LF line ends."""
        return line_ends(str(value or ""))

    def validate(self, value: Any) -> None:
        """Refuse what is longer than any unit before anything reads it."""
        if len(value) > MAX_FIELD_CHARS:
            raise forms.ValidationError(_("This is too long for a unit."), code="unit_too_large")


class Ticks(forms.MultipleChoiceField):
    """Ticked boxes; the unit's rules judge them."""

    widget = forms.CheckboxSelectMultiple

    def validate(self, value: Sequence[str]) -> None:
        """Refuse nothing."""


class UnitFieldsForm(forms.Form):
    """A unit's fields, guarded by the blob they were read from; valid, it has the `unit`."""

    blob = forms.RegexField(r"^[0-9a-f]{40}$", widget=forms.HiddenInput)

    def __init__(self, *args: Any, opened: CuratedEvidence, **kwargs: Any) -> None:
        """Take the unit that was opened: its kind gives the fields, and it what none holds."""
        super().__init__(*args, **kwargs)
        self.opened = opened
        self.unit: CuratedEvidence | None = None
        self.marks: list[Mark] = []
        self._typed: Typed = {}
        self.wordings = wordings(opened.kind)
        for name, wording in self.wordings.items():
            self.fields[name] = _field(wording)
        choices = [
            (str(place), doubt.text) for place, doubt in enumerate(doubts(opened.review_items))
        ]
        self.fields["settled"] = Ticks(
            label=gettext_lazy("Doubts that are settled"), choices=choices, required=False
        )

    def clean(self) -> dict[str, Any]:
        """Make the unit, so that one that breaks a rule is never committed."""
        said = {**self.cleaned_data}
        for name, errors in self.errors.as_data().items():
            for error in errors:
                self._remember(Mark(error.messages[0], error.code or "", name))
        if self.errors:
            return said
        self._typed = {name: said[name] for name in self.wordings}
        settled = {int(place) for place in said["settled"] if place.isdecimal()}
        try:
            unit = unit_of(self.opened, self.typed(), settled=settled)
            dump_curated_markdown(unit)
            self.unit = unit
        except UnitInvalid as fault:
            for problem in fault.problems:
                self._mark_problem(problem, fault.code)
        except CuratorFault as fault:
            self.mark(fault)
        return said

    def typed(self) -> Typed:
        """Give what was typed, by field name; nothing before each field was clean by itself."""
        return self._typed

    def mark(self, fault: CuratorFault) -> None:
        """Refuse the whole for a reason."""
        self._refuse(Mark(sentence(fault.message), fault.code))

    def _mark_problem(self, problem: Problem, code: str) -> None:
        place = place_of_problem(self.opened.kind, problem.field)
        text = sentence(problem.message)
        if not place.name and problem.field:
            text = f"{problem.field}: {text}"
        remark = remark_at(place, self.opened.kind, self.typed())
        row = 0 if place.row is None else place.row + 1
        self._refuse(Mark(text, code, place.name, "", self._where(place), row, remark))

    def _where(self, place: FieldPlace) -> str:
        if place.row is None:
            return ""
        columns = ROWS.get(place.name.removeprefix("payload_"), ())
        if place.cell not in columns:
            return _("row %(row)s") % {"row": place.row + 1}
        header = self.wordings[place.name].headers[columns.index(place.cell)]
        return _("row %(row)s, %(column)s") % {"row": place.row + 1, "column": header}

    def _refuse(self, mark: Mark) -> None:
        # No `params`: a `%` in a quoted SQL text would be taken for a placeholder.
        self.add_error(mark.name or None, forms.ValidationError(mark.text, code=mark.code))
        self._remember(mark)

    def _remember(self, mark: Mark) -> None:
        if len(self.marks) < MOST_MARKS:
            label = str(self.fields[mark.name].label or "") if mark.name in self.fields else ""
            self.marks.append(replace(mark, label=label))


def _field(wording: Wording) -> forms.Field:
    said: dict[str, Any] = {"label": wording.label, "help_text": wording.help_text}
    if wording.shape == "ticks":
        return Ticks(required=False, choices=list(PURPOSES.items()), **said)
    return TypedText(widget=_widget(wording), **said)


def _widget(wording: Wording) -> forms.Widget:
    attrs: dict[str, Any] = {"autocomplete": "off"}
    if wording.names:
        attrs["data-names"] = wording.names
    if wording.shape == "line":
        return forms.TextInput(attrs)
    attrs["rows"] = _HEIGHTS.get(wording.shape, 2)
    if wording.shape in {"list", "table"}:
        attrs[f"data-{wording.shape}"] = json.dumps([str(each) for each in wording.headers])
    if wording.sql_cell is not None:
        attrs["data-sql-cell"] = wording.sql_cell
    if wording.shape in _CODE:
        attrs["class"] = "ep-typed-code"
        attrs["spellcheck"] = "false"
    if wording.shape in {"expression", "query"}:
        attrs["data-sql"] = wording.shape
    return forms.Textarea(attrs)


_HEIGHTS: Final = {"list": 3, "table": 10, "expression": 5, "query": 10, "markdown": 10}
_CODE: Final = {"table", "expression", "query"}
