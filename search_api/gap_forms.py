"""What an expert says about a gap or a proposed formula."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class AnswerForm(forms.Form):
    """A note that answers a question: its file name and its text, filled in as far as we can."""

    name = forms.CharField(
        label=_("File name"),
        max_length=200,
        help_text=_("For example domain/allergie.md. It is kept under source/."),
    )
    text = forms.CharField(
        label=_("Text"),
        max_length=100_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text=_("Write the answer below the question, as you would for a colleague."),
    )


class DismissalForm(forms.Form):
    """Why a proposed formula does not become knowledge."""

    reason = forms.CharField(
        label=_("Why it is dismissed"), max_length=1_000, widget=forms.Textarea(attrs={"rows": 3})
    )
