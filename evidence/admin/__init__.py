"""The admin of `evidence`: importing it registers its pages."""

from evidence.admin import (
    findings,
    proposals,
    readings,
    review_items,
    revisions,
    sources,
    units,
    workspaces,
)

__all__ = (
    "findings",
    "proposals",
    "readings",
    "review_items",
    "revisions",
    "sources",
    "units",
    "workspaces",
)
