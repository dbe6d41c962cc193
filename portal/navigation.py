"""How Unfold presents the portal: name, side bar, style sheet, home page."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": _("Evidence Portal"),
    "SITE_HEADER": _("Evidence Portal"),
    "SITE_SYMBOL": "menu_book",
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
}
