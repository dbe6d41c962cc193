"""The form that makes an API key: everything is refused here, before a key exists."""

from __future__ import annotations

from datetime import datetime

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evidence import overview
from search_api.models import KeyRole


def _registered() -> list[tuple[str, str]]:
    return [(workspace.slug, workspace.title) for workspace in overview.workspaces()]


class NewKeyForm(forms.Form):
    """Who asks, what for, where, and until when."""

    label = forms.CharField(
        label=_("Who uses it"),
        max_length=100,
        required=False,
        help_text=_("So that the key can be ended when they stop."),
    )
    role = forms.ChoiceField(
        label=_("Role"),
        choices=KeyRole.choices,
        help_text=_("A reader asks; a writer also leaves receipts and formula proposals."),
    )
    workspaces = forms.MultipleChoiceField(
        label=_("Workspaces"),
        choices=_registered,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Where the key may ask."),
    )
    expires_at = forms.DateTimeField(
        label=_("Expires"),
        required=False,
        help_text=_("From this moment on the key is refused; empty means never."),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )

    def clean_expires_at(self) -> datetime | None:
        """Refuse a moment that is past."""
        expires_at: datetime | None = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= timezone.now():
            raise forms.ValidationError(_("A key cannot expire before it is made."))
        return expires_at
