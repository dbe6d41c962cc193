"""Forms of the steps: what a person typed is checked here, before any commit is tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evidence.domain.codec import parse_curated_markdown
from evidence.domain.units import UnitInvalid
from evidence.faults import CuratorFault
from evidence.models import SourceRecord, Workspace
from evidence.translation import sentence

MAX_UNIT_CHARS = 64 * 1024
MAX_NOTE_CHARS = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing that is wrong in a text: the words, the stable code and the place, where known."""

    text: str
    code: str
    field: str = ""
    line: int | None = None


def line_of(text: str, field: str) -> int | None:
    """Give the line on which a field such as `payload.values.1.meaning` begins, where it stands."""
    found, entries = None, 0
    wanted = iter(field.split("."))
    name = next(wanted)
    for number, line in enumerate(text.splitlines(), start=1):
        if name.isdigit():
            entries += line.lstrip().startswith("- ")
            matches = entries > int(name)
        else:
            matches = line.lstrip(" -").startswith(f"{name}:")
        while matches:
            found, entries, name = number, 0, next(wanted, "")
            if not name:
                return found
            matches = line.lstrip().startswith(f"- {name}:")
    return found


class UnitTextForm(forms.Form):
    """The whole file of a unit as text, guarded by the blob it was read from."""

    text = forms.CharField(
        label=_("Text of the unit"),
        max_length=MAX_UNIT_CHARS,
        strip=False,
        widget=forms.Textarea(attrs={"class": "ep-editor", "spellcheck": "false", "rows": 32}),
    )
    blob = forms.RegexField(r"^[0-9a-f]{40}$", widget=forms.HiddenInput)

    def __init__(self, *args: Any, path: str, **kwargs: Any) -> None:
        """Take the path too: the folder decides the kind a unit may have."""
        super().__init__(*args, **kwargs)
        self.path = path
        self.marks: list[Mark] = []

    def clean_text(self) -> str:
        """Decode the unit, so that a file that cannot be read is never committed."""
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n").replace("\r", "\n")
        try:
            parse_curated_markdown(text, path=self.path)
        except UnitInvalid as fault:
            for problem in fault.problems:
                self.mark(fault, problem.message, problem.field, line_of(text, problem.field))
        except CuratorFault as fault:
            self.mark(fault, fault.message)
        return text

    def mark(
        self, fault: CuratorFault, message: str, field: str = "", line: int | None = None
    ) -> None:
        """Refuse the text for a reason, and remember where it lies."""
        words = sentence(message)
        self.marks.append(Mark(words, fault.code, field, line or fault.line))
        # No `params`: a `%` in a quoted SQL text would be taken for a placeholder.
        self.add_error("text", forms.ValidationError(words, code=fault.code))


class SettleForm(forms.Form):
    """Which review item of which version of a unit's file is settled."""

    ordinal = forms.IntegerField(min_value=0, max_value=1999)
    blob = forms.RegexField(r"^[0-9a-f]{40}$")


class ProposedItemForm(SettleForm):
    """The same for a unit that is only proposed."""

    unit = forms.CharField(max_length=200)


class PrepareForm(forms.Form):
    """Which notes of one workspace to prepare; none means everything that changed."""

    only = forms.ModelMultipleChoiceField(
        SourceRecord.objects.none(), to_field_name="path", required=False
    )

    def __init__(self, *args: Any, workspace: Workspace, **kwargs: Any) -> None:
        """Take the workspace: a note of another one is no choice."""
        super().__init__(*args, **kwargs)
        field = self.fields["only"]
        assert isinstance(field, forms.ModelMultipleChoiceField)  # noqa: S101 - for the type checker
        field.queryset = SourceRecord.objects.filter(workspace=workspace)

    def paths(self) -> tuple[str, ...]:
        """Give the chosen paths of a valid form."""
        return tuple(row.path for row in self.cleaned_data["only"])


class RelinkForm(forms.Form):
    """The note that a unit's excerpts stand in now."""

    source = forms.CharField(label=_("Note"), max_length=1000)


class NoteForm(forms.Form):
    """A new source note: its file name and its text."""

    name = forms.CharField(
        label=_("File name"),
        max_length=200,
        help_text=_("For example domain/allergie.md. It is kept under source/."),
    )
    text = forms.CharField(
        label=_("Text"),
        max_length=MAX_NOTE_CHARS,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 20}),
        help_text=_(
            "Write as you would for a colleague. Nothing is published before it was reviewed."
        ),
    )


class ReasonForm(forms.Form):
    """Why something is discarded or rolled back."""

    reason = forms.CharField(
        label=_("Reason"), max_length=1000, widget=forms.Textarea(attrs={"rows": 3})
    )


class UnitForm(forms.Form):
    """Which unit of a proposal is meant."""

    unit = forms.CharField(max_length=200, widget=forms.HiddenInput())


class UnitReasonForm(ReasonForm):
    """Why one new unit is taken out of a proposal."""

    unit = forms.CharField(max_length=200, widget=forms.HiddenInput())
