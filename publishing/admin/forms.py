"""Forms of the steps of publication."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class ReleaseForm(forms.Form):
    """An approval: the very revision that the page showed, and a note."""

    revision = forms.RegexField(r"^[0-9a-f]{40}$", widget=forms.HiddenInput)
    content_digest = forms.RegexField(r"^sha256:[0-9a-f]{64}$", widget=forms.HiddenInput)
    head = forms.RegexField(r"^[0-9a-f]{40}$", widget=forms.HiddenInput)
    note = forms.CharField(
        label=_("Note"),
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What you looked at, for whoever reads this later."),
    )


class RollBackForm(forms.Form):
    """Why an earlier generation answers again."""

    reason = forms.CharField(
        label=_("Reason"), max_length=1000, widget=forms.Textarea(attrs={"rows": 3})
    )


class VouchForm(forms.Form):
    """Why a commit from outside, by nobody the portal knows, may be published."""

    commit = forms.RegexField(r"^[0-9a-f]{40}$", widget=forms.HiddenInput)
    reason = forms.CharField(
        label=_("How do you know who wrote it?"),
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class RehearsalForm(forms.Form):
    """Which revision is rehearsed."""

    revision = forms.RegexField(r"^[0-9a-f]{40}$", widget=forms.HiddenInput)
