"""How Unfold presents the portal: name, side bar, style sheet, home page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _


def may_see(permission: str) -> Callable[[HttpRequest], bool]:
    """Show an entry to those who hold a permission."""
    return lambda request: request.user.has_perm(permission)


def entry(
    title: str | Promise, icon: str, model: str, *, query: str = "", unless: str = ""
) -> dict[str, Any]:
    """Give the entry that leads to the list of a model `app.model`, narrowed by a query.

    Two entries may begin alike: `unless` is the part of an address that belongs to the other.
    """
    app, _dot, name = model.partition(".")
    place = reverse_lazy(f"admin:{app}_{name}_changelist")

    def is_current(request: HttpRequest) -> bool:
        asked = request.META.get("QUERY_STRING", "")
        return (
            request.path.startswith(str(place))
            and query in asked
            and not (unless and (unless in asked or unless in request.path))
        )

    return {
        "title": title,
        "icon": icon,
        "link": format_lazy("{}{}", place, f"?{query}") if query else place,
        "active": is_current,
        "permission": may_see(f"{app}.view_{name}"),
    }


def console() -> dict[str, Any]:
    """Give the entry that leads to the search console."""
    place = reverse_lazy("admin:publishing_console")
    return {
        "title": _("Search console"),
        "icon": "manage_search",
        "link": place,
        "active": lambda request: request.path == str(place),
        "permission": may_see("publishing.view_evaluation"),
    }


def style_sheet(request: HttpRequest) -> str:
    """Give the address of our style sheet, with its fingerprint."""
    return static("portal/portal.css")


def icon(request: HttpRequest) -> str:
    """Give the address of the portal's icon."""
    return static("portal/icon.svg")


def script(request: HttpRequest) -> str:
    """Give the address of the script that every page may use."""
    return static("portal/pages.js")


NAVIGATION = [
    {
        "items": [{"title": _("Home"), "icon": "home", "link": reverse_lazy("admin:index")}],
    },
    {
        "title": _("Knowledge"),
        "separator": True,
        "items": [
            entry(_("Source notes"), "description", "evidence.sourcerecord"),
            entry(_("Proposals"), "rate_review", "evidence.preparationrun"),
            entry(_("Units"), "library_books", "evidence.unitrecord", unless="attention=orphan"),
            entry(_("Review items"), "help", "evidence.reviewitemrecord"),
            entry(_("Gaps"), "quiz", "search_api.gap"),
            entry(_("Proposed formulas"), "function", "search_api.formulaproposal"),
            entry(_("Orphans"), "link_off", "evidence.unitrecord", query="attention=orphan"),
            entry(_("Findings"), "rule", "evidence.findingrecord"),
            entry(_("Revisions"), "history", "evidence.revisionrecord"),
        ],
    },
    {
        "title": _("Answers"),
        "separator": True,
        "items": [
            entry(_("Approvals"), "verified", "publishing.approval"),
            entry(_("Generations"), "deployed_code", "publishing.generation"),
            entry(
                _("Evaluations"), "checklist", "publishing.evaluation", unless="evaluation/console/"
            ),
            console(),
            entry(_("What happened"), "event_note", "publishing.publicationevent"),
        ],
    },
    {
        "title": _("Operation"),
        "separator": True,
        "items": [
            entry(_("Workspaces"), "folder_managed", "evidence.workspace"),
            {
                "title": _("Rates"),
                "icon": "speed",
                "link": reverse_lazy("admin:evidence_sourcereading_rates"),
                "permission": may_see("evidence.view_preparationrun"),
            },
            entry(_("API keys"), "key", "search_api.apikey"),
            entry(_("Users"), "person", "auth.user"),
            entry(_("Groups"), "group", "auth.group"),
        ],
    },
]

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": _("Evidence Portal"),
    "SITE_HEADER": _("Evidence Portal"),
    "SITE_SUBHEADER": _("Knowledge you can cite"),
    "SITE_SYMBOL": "menu_book",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": icon}],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_LANGUAGES": True,
    "DASHBOARD_CALLBACK": "portal.dashboard.home",
    "STYLES": [style_sheet],
    "SCRIPTS": [script],
    "SIDEBAR": {"show_search": False, "navigation": NAVIGATION},
    "COLORS": {
        # A calm blue-green; 600 carries white text at 5.6 : 1.
        "primary": {
            "50": "oklch(97.5% .013 215)",
            "100": "oklch(94.5% .03 215)",
            "200": "oklch(89% .055 215)",
            "300": "oklch(81% .085 215)",
            "400": "oklch(74% .105 215)",
            "500": "oklch(62% .105 220)",
            "600": "oklch(50% .095 225)",
            "700": "oklch(43% .083 227)",
            "800": "oklch(37% .07 229)",
            "900": "oklch(31% .055 231)",
            "950": "oklch(24% .042 233)",
        },
    },
}
