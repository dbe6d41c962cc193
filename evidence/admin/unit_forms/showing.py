"""A form's fields in groups, each with what is wrong with it and what somebody else made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.forms import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evidence.admin.rendering import render_markdown
from evidence.admin.typed_view import parts
from evidence.admin.unit_forms.conflicts import Conflict, Dispute
from evidence.admin.unit_forms.form import Mark, UnitFieldsForm
from evidence.admin.unit_forms.wording import Wording

Text = str | Promise


@dataclass(frozen=True, slots=True)
class ShownField:
    """One field with everything its place on the page shows."""

    bound: BoundField
    wording: Wording
    marks: Sequence[Mark]
    dispute: Dispute | None


@dataclass(frozen=True, slots=True)
class Group:
    """Fields under one heading."""

    name: str
    heading: Text
    fields: Sequence[ShownField]


def groups(form: UnitFieldsForm, conflict: Conflict | None) -> tuple[Group, ...]:
    """Give the fields in reading order, as the page divides them."""
    form.is_valid()
    disputes = conflict.disputes if conflict else {}

    def shown(names: Iterable[str]) -> list[ShownField]:
        return [
            ShownField(
                form[name],
                form.wordings[name],
                [mark for mark in form.marks if mark.name == name],
                disputes.get(name),
            )
            for name in names
        ]

    about = [name for name in form.wordings if name.startswith(("scope_", "purposes"))]
    says = [name for name in form.wordings if name not in about]
    return (
        Group("says", _("What it says"), shown(says)),
        Group("about", _("What it is about"), shown(about)),
    )


def preview_of(form: UnitFieldsForm) -> dict[str, Any]:
    """Give what the preview of a form shows: the parts of a whole unit, else its body alone."""
    form.is_valid()
    body = form.cleaned_data.get("body", "")
    return {
        "body": render_markdown(form.unit.body if form.unit else body),
        "parts": parts(form.unit) if form.unit else (),
        "is_whole": form.unit is not None,
    }
