"""The form that makes an API key: everything is refused here, before a key exists."""

from __future__ import annotations

from datetime import datetime

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from search_api.keys import MAX_WORKSPACES, SLUG
from search_api.models import KeyRole


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
    workspaces = forms.CharField(
        label=_("Workspaces"), help_text=_("Their slugs, separated by commas.")
    )
    expires_at = forms.DateTimeField(
        label=_("Expires"),
        required=False,
        help_text=_("From this moment on the key is refused; empty means never."),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )

    def clean_workspaces(self) -> list[str]:
        """Give the slugs in order, without repeats."""
        slugs = sorted({part.strip() for part in self.cleaned_data["workspaces"].split(",")})
        if len(slugs) > MAX_WORKSPACES or not all(map(SLUG.fullmatch, slugs)):
            raise forms.ValidationError(_("Name workspaces by their slugs, such as clinica-demo."))
        return slugs

    def clean_expires_at(self) -> datetime | None:
        """Refuse a moment that is past."""
        expires_at: datetime | None = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= timezone.now():
            raise forms.ValidationError(_("A key cannot expire before it is made."))
        return expires_at
