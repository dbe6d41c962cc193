"""What one preparation did, in bounded lists for people, pages and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evidence.domain.findings import ValidationReport

MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class PreparationReport:
    """Source paths (`changed`, `unchanged`, `renamed`: new path by old) and unit ids (the rest).

    `validation` judges the tree after the change; `model_calls` counts restructurer calls.
    """

    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    created: tuple[str, ...]
    updated: tuple[str, ...]
    renamed: Mapping[str, str]
    orphaned: tuple[str, ...]
    validation: ValidationReport
    model_calls: int
    cached: int = 0

    @property
    def review_required(self) -> bool:
        """Tell whether the result holds an open review item or an orphan (spec 20, exit code 3)."""
        return bool(self.validation.open_review_items or self.validation.orphans)

    def as_json(self) -> dict[str, object]:
        """Give the report of spec 20; `omitted` counts, by list, what was left out of it."""
        lists: dict[str, list[object]] = {
            "changed": list(self.changed),
            "unchanged": list(self.unchanged),
            "created": list(self.created),
            "updated": list(self.updated),
            "renamed": [{"from": old, "to": new} for old, new in self.renamed.items()],
            "orphaned": list(self.orphaned),
            "findings": [found.as_json() for found in self.validation.findings],
        }
        omitted = {name: len(entries) - MAX_LISTED for name, entries in lists.items()}
        omitted["findings"] += self.validation.omitted
        return {
            **{name: entries[:MAX_LISTED] for name, entries in lists.items()},
            "model_calls": self.model_calls,
            "cached": self.cached,
            "omitted": {name: count for name, count in omitted.items() if count > 0},
        }
