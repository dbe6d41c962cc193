"""The one home of Unfold: lists and readable pages over rows that nobody edits as rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import Model
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin

from evidence.admin.wording import fault_line
from evidence.faults import Fault, OperatorFault, OutsideFault
from evidence.ports import Actor

Text = str | Promise
CURATE = "evidence.curate_workspace"
"""The permission to change what a workspace says."""
posts_only = method_decorator(require_POST)
"""A step that changes something answers posts alone."""


class ReadablePage(ModelAdmin):  # type: ignore[misc]  # Unfold ships no types
    """A list and a page a row; rows change only through steps, superusers included.

    Overrides `changeform_view`, so no transaction is open while a page or a step reads Git.
    """

    page_template: ClassVar[str]
    steps: ClassVar[tuple[str, ...]] = ()
    """Methods `(request, object_id)` that get the address `<object_id>/<name>/`."""
    empty_title: ClassVar[Text] = ""
    empty_hint: ClassVar[Text] = ""
    actions: Sequence[str] | None = None
    list_filter_sheet = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: rows come from Git or from a step."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse, superusers included."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse, superusers included."""
        return False

    def get_urls(self) -> list[URLPattern]:
        """Put the steps before Django's own addresses, of which a catch-all is the last."""
        mine = [
            path(
                f"<path:object_id>/{step}/",
                self.admin_site.admin_view(getattr(self, step)),
                name=self.route(step),
            )
            for step in self.steps
        ]
        return [*mine, *super().get_urls()]

    def route(self, step: str) -> str:
        """Name the address of a step, without the site's namespace."""
        return f"{self.opts.app_label}_{self.opts.model_name}_{step}"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list; a NUL in its filters is refused before PostgreSQL chokes on it."""
        refuse_nul(request)
        page: HttpResponse = super().changelist_view(request, extra_context)
        return page

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the row's page; a row has no form."""
        if request.method not in {"GET", "HEAD"}:
            return HttpResponseNotAllowed(["GET", "HEAD"])
        row = self.row(request, object_id or "")
        return self.page(request, row, self.page_template, **self.page_context(request, row))

    def row(self, request: HttpRequest, object_id: str) -> Any:
        """Give the row behind an address to somebody who may see it. Raises 404 or 403."""
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        return row

    def require_view(self, request: HttpRequest) -> None:
        """Raise 403 unless the signed-in person may see these rows."""
        if not self.has_view_permission(request):
            raise PermissionDenied

    def page_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Give what the page's template needs; overridden by each page."""
        return {}

    def page(
        self, request: HttpRequest, row: Model | None, template: str, **context: Any
    ) -> TemplateResponse:
        """Render a template inside the admin, with breadcrumbs to the row."""
        request.current_app = self.admin_site.name
        shared = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": row,
            "title": str(row) if row is not None else self.opts.verbose_name_plural,
            "media": self.media,
        }
        return TemplateResponse(request, template, shared | context)


def refuse_nul(request: HttpRequest) -> None:
    """Answer 400 to a NUL in what an address asks for, before a query of it is sent."""
    if any("\0" in value for _name, values in request.GET.lists() for value in values):
        raise SuspiciousOperation("NUL in a filter")


def actor_of(request: HttpRequest) -> Actor:
    """Give the signed-in person as the steps know people."""
    user = request.user
    return Actor(
        username=user.get_username(),
        name=getattr(user, "get_full_name", user.get_username)(),
        email=getattr(user, "email", ""),
    )


def require(request: HttpRequest, permission: str) -> None:
    """Raise 403 unless the signed-in person has the permission."""
    if not may(request, permission):
        raise PermissionDenied


def may(request: HttpRequest, permission: str) -> bool:
    """Tell whether the signed-in person has a permission such as `CURATE`."""
    return request.user.has_perm(permission)


def say_fault(request: HttpRequest, fault: Fault) -> None:
    """Put a fault above the next page: an error to correct, or a warning to wait out."""
    level = messages.WARNING if isinstance(fault, OutsideFault) else messages.ERROR
    extra = "operator" if isinstance(fault, OperatorFault) else ""
    messages.add_message(request, level, fault_line(fault), extra_tags=extra)


def address(name: str, *args: object) -> str:
    """Give the path of an admin page, with keys quoted as Django's admin wants them."""
    return reverse(f"admin:{name}", args=[quote(str(arg)) for arg in args])


def go(name: str, *args: object) -> HttpResponseRedirect:
    """Send the browser to an admin page."""
    return HttpResponseRedirect(address(name, *args))


def listed(name: str, **filters: str | int) -> str:
    """Give the path of a list, narrowed by its filters."""
    return f"{address(f'{name}_changelist')}?{urlencode(filters)}"


def joined(parts: Iterable[str]) -> str:
    """Join words for a cell."""
    return ", ".join(parts)
