"""Sentences of Unfold that have no Italian of their own, named so that `make messages` finds them.

`makemessages` does not look into installed packages; Django asks our catalogue first.
"""

from __future__ import annotations

from typing import Final

from evidence.messages import gettext_noop as _

WORDS: Final = (
    _("Select record"),
    _("Select action"),
    _("Select action to run"),
    _("Select all rows"),
    _("Select value"),
    _("Value"),
    _("From"),
    _("To"),
    _("Date"),
    _("Date from"),
    _("Date to"),
    _("Not enough data."),
    _("Add row"),
    _("Run"),
    _("Filters"),
    _("Apply Filters"),
    _("Reset filters"),
    _("Expand row"),
    _("Welcome back to"),
    _("Type to search"),
    _("Search apps and models..."),
    _("You have been successfully logged out from the administration"),
    _("After you've created a user, you’ll be able to edit more user options."),  # noqa: RUF001
    _("Toggle password visibility"),
    _(
        "Raw passwords are not stored, so there is no way to see this user’s password, but you can"  # noqa: RUF001
        ' change the password using <a href="{}" class="text-primary-600'
        ' dark:text-primary-500">this form</a>.'
    ),
    _("No data"),
    _("No results found"),
    _("No results matching your query"),
    _("Loading more results..."),
    _("This page yielded into no results. Create a new item or reset your filters."),
    _("More actions"),
    _("All applications"),
    _("True"),
    _("False"),
    _("Recent searches"),
    _("No recent searches"),
    _("Cancel"),
    _("Submit"),
    _("This item will be deleted."),
    _("Click to cancel"),
    _("Click to download"),
    _("Choose file to upload"),
    _("Image preview"),
    _("Record picture"),
    _("Go back"),
    _("Previous"),
    _("Next"),
    _("General"),
    _("Light"),
    _("Dark"),
    _("System"),
    _("Return to site"),
)
