"""Forms of the search console: a question as the API takes it, and how it joins the exam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.wording import KINDS, PURPOSES
from evidence.domain.identifiers import EVIDENCE_ID, ID_PREFIX
from evidence.domain.questions import Profile
from publishing.admin.wording import generation_words
from publishing.models import Generation

OFF_TOPIC = "off_topic"
PROFILES = [
    (Profile.SEMANTIC.value, _("by meaning: it says it in other words than the unit")),
    (Profile.LEXICAL.value, _("by words: it names exactly what the unit names")),
    (Profile.MIXED.value, _("both")),
    (OFF_TOPIC, _("off topic: this workspace does not answer it")),
]
LISTS = ("concepts", "tables", "columns")


class LinesField(forms.CharField):
    """Several values, one a line; blank lines count for nothing."""

    def __init__(self, label: Any) -> None:
        """Show as many lines as most people need."""
        super().__init__(label=label, required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def clean(self, value: Any) -> list[str]:
        """Give the values in the order typed."""
        return [line for line in super().clean(value).splitlines() if line.strip()]


class QuestionForm(forms.Form):
    """One question to one generation; what the API would refuse is refused by the same code."""

    use_required_attribute = False
    query = forms.CharField(
        label=_("Question"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    first_asked = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    """The words somebody asked before, where another page led here with them."""
    purpose = forms.ChoiceField(label=_("What the answer is for"), choices=list(PURPOSES.items()))
    generation = forms.ChoiceField(label=_("Generation"), required=False)
    top_n = forms.IntegerField(
        label=_("Units at most"),
        initial=10,
        widget=forms.NumberInput(attrs={"min": 1, "max": 10}),
    )
    unit = forms.CharField(
        label=_("Why (not) this unit?"),
        required=False,
        help_text=_("Its id, such as evidence:fascia-pediatrica; or press “Why?” beside a result."),
    )
    concepts = LinesField(_("Concepts known"))
    tables = LinesField(_("Tables known"))
    columns = LinesField(_("Columns known"))
    required_kinds = forms.MultipleChoiceField(
        label=_("Only these kinds"),
        choices=list(KINDS.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    required_concepts = LinesField(_("Only with one of these concepts"))
    required_tables = LinesField(_("Only with one of these tables"))
    required_columns = LinesField(_("Only with one of these columns"))

    def __init__(self, *args: Any, generations: Sequence[Generation], **kwargs: Any) -> None:
        """Offer the generations that still hold points, the active one first."""
        super().__init__(*args, **kwargs)
        field = cast("forms.ChoiceField", self.fields["generation"])
        field.choices = [("", gettext("the one that answers now")), *map(_choice, generations)]

    def clean_unit(self) -> str:
        """Give the whole id of the unit asked about, or nothing."""
        typed: str = self.cleaned_data["unit"]
        if not typed:
            return ""
        evidence_id = ID_PREFIX + typed.removeprefix(ID_PREFIX)
        if not EVIDENCE_ID.match(evidence_id):
            raise forms.ValidationError(gettext("This is no id of a unit."))
        return evidence_id

    @property
    def chosen(self) -> UUID | None:
        """Give the generation asked, None for the active one."""
        wanted: str = self.cleaned_data["generation"]
        return UUID(wanted) if wanted else None

    @property
    def has_context(self) -> bool:
        """Tell whether anything beside the question was filled in."""
        names = [*LISTS, "required_kinds", *(f"required_{name}" for name in LISTS)]
        return any(self.cleaned_data.get(name) for name in names)

    def asked(self) -> dict[str, object]:
        """Give the body that the API would get."""
        data = self.cleaned_data
        names = [*LISTS, "required_kinds", *(f"required_{name}" for name in LISTS)]
        return {
            "query": data["query"],
            "purpose": data["purpose"],
            "top_n": data["top_n"],
            "context": {name: data[name] for name in names},
        }


class SaveForm(forms.Form):
    """How a question that was tried joins the evaluation set."""

    use_required_attribute = False
    id = forms.CharField(
        label=_("Short name"), required=False, help_text=_("It names the question in each exam.")
    )
    profile = forms.ChoiceField(
        label=_("How it finds its unit"), choices=PROFILES, initial=Profile.SEMANTIC.value
    )
    expected = forms.MultipleChoiceField(
        label=_("Units it must find"), required=False, widget=forms.CheckboxSelectMultiple
    )
    also = LinesField(_("Other units it must find, one id a line"))

    def __init__(self, *args: Any, found: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        """Offer the units that were found, as pairs of id and title."""
        super().__init__(*args, **kwargs)
        field = cast("forms.MultipleChoiceField", self.fields["expected"])
        field.choices = list(found)

    def clean(self) -> dict[str, Any]:
        """Want a unit of every question that the workspace answers."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        is_whole = {"expected", "also", "profile"} <= cleaned.keys()
        if is_whole and cleaned["profile"] != OFF_TOPIC and not self.expectations():
            self.add_error(None, _("Tick or name at least one unit that the question must find."))
        return cleaned

    def expectations(self) -> list[str]:
        """Give the ids ticked and typed, each once, in that order."""
        typed = [ID_PREFIX + each.strip().removeprefix(ID_PREFIX) for each in self.data_also()]
        return list(dict.fromkeys([*self.cleaned_data["expected"], *typed]))

    def data_also(self) -> list[str]:
        """Give the ids typed."""
        lines: list[str] = self.cleaned_data["also"]
        return lines


def _choice(row: Generation) -> tuple[str, str]:
    return str(row.pk), f"{row} · {generation_words(row.state)} · {row.revision[:10]}"
