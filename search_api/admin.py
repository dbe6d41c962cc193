"""API keys in the admin: made, shown once, listed and ended; never edited."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin

from search_api import gap_pages, keys, proposal_pages, receipt_pages
from search_api.forms import NewKeyForm
from search_api.models import ApiKey, KeyRole

__all__ = ["ApiKeyAdmin", "gap_pages", "proposal_pages", "receipt_pages"]


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):  # type: ignore[misc]  # Unfold ships no types
    """A key is made or ended; what it may do never changes."""

    list_display = ("prefix", "label", "role", "where", "expires_at", "revoked_at", "last_used_at")
    list_filter = ("role",)
    list_filter_sheet = False
    search_fields = ("prefix", "label")
    exclude = ("digest",)
    actions = ("end",)

    @admin.display(description=_("workspaces"))
    def where(self, row: ApiKey) -> str:
        """Name the workspaces a key is for."""
        return ", ".join(row.workspaces)

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse: a key with other rights is another key."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse: an ended key stays on record."""
        return False

    def has_end_permission(self, request: HttpRequest) -> bool:
        """Let those end keys who hold the permission to change them."""
        return request.user.has_perm("search_api.change_apikey")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Make a key and answer with it: no redirect, so the token is stored nowhere on its way."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = NewKeyForm(request.POST if request.method == "POST" else None)
        new = self._make(request, form) if form.is_valid() else None
        context = self.admin_site.each_context(request) | {
            "title": _("New API key"),
            "opts": self.opts,
            "form": form,
            "new": new,
        }
        page = TemplateResponse(request, "search_api/new_key.html", context)
        add_never_cache_headers(page)
        return page

    def _make(self, request: HttpRequest, form: NewKeyForm) -> keys.NewKey:
        chosen = form.cleaned_data
        new = keys.create(
            workspaces=chosen["workspaces"],
            role=KeyRole(chosen["role"]),
            now=timezone.now(),
            label=chosen["label"],
            expires_at=chosen["expires_at"],
        )
        self.log_addition(request, new.row, [{"added": {}}])
        return new

    @admin.action(description=_("Revoke the chosen keys"), permissions=["end"])
    def end(self, request: HttpRequest, chosen: QuerySet[ApiKey]) -> None:
        """End keys at once."""
        ended = [keys.revoke(prefix=row.prefix, now=timezone.now()) for row in chosen]
        text = ngettext("%(count)s key is revoked.", "%(count)s keys are revoked.", len(ended))
        messages.success(request, text % {"count": len(ended)})
