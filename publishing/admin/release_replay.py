"""Recent questions whose answer a release would change, as rows of its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.utils.safestring import SafeString
from django.utils.translation import gettext

from evidence.admin.unit_links import UnitLink
from evidence.admin.wording import badge, kind_label, purpose_label
from publishing.admin.release_exam import Links
from publishing.domain import replay
from publishing.domain.confidence import Confidence
from publishing.domain.replay import Difference, Place, Replay
from publishing.preview import Preview

OPEN: Final = 3
"""How many questions show their units at once; the others open on a click."""


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """One unit of an answer: where it stands now, where it would, and what became of it."""

    unit: UnitLink
    before: str
    after: str
    marks: tuple[SafeString, ...]


@dataclass(frozen=True, slots=True)
class ReplayedRow:
    """One question that would be answered otherwise."""

    query: str
    purpose: str
    narrowed: tuple[tuple[str, str], ...]
    """What it was asked with: a field in words, and its values."""
    confidence: str
    """How sure both answers are, in words."""
    marks: tuple[SafeString, ...]
    places: tuple[PlaceRow, ...]
    is_open: bool


def replayed_rows(shown: Preview, links: Links) -> list[ReplayedRow]:
    """Give the questions whose answer would change, with links to the units it names."""
    found = _differences(shown.replay)
    return [_row(each, links, is_open=number < OPEN) for number, each in enumerate(found)]


def replayed_units(shown: Preview) -> set[str]:
    """Give the ids of all units that stand in those answers."""
    found = _differences(shown.replay)
    return {unit for each in found for side in _sides(each) for unit, _said in side["units"]}


def _differences(found: Replay | None) -> list[Difference]:
    return found["differences"] if found else []


def _sides(found: Difference) -> tuple[replay.Answer, replay.Answer]:
    return found["before"], found["after"]


def _row(found: Difference, links: Links, *, is_open: bool) -> ReplayedRow:
    places = replay.places(*_sides(found))
    return ReplayedRow(
        query=found["query"],
        purpose=purpose_label(found["purpose"]),
        narrowed=tuple(_narrowed(found["context"])),
        confidence=_confidence(found),
        marks=tuple(_marks(found, places)),
        places=tuple(_place(each, links) for each in places),
        is_open=is_open,
    )


def _narrowed(context: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Give the fields that came with a question, in words."""
    names = {
        "concepts": gettext("with concepts"),
        "tables": gettext("with tables"),
        "columns": gettext("with columns"),
        "required_kinds": gettext("only of kind"),
        "required_concepts": gettext("only with concepts"),
        "required_tables": gettext("only with tables"),
        "required_columns": gettext("only with columns"),
    }
    for field, values in context.items():
        said = map(kind_label, values) if field == "required_kinds" else values
        yield names.get(field, field), ", ".join(said)


def _confidence(found: Difference) -> str:
    """Say how sure both answers are."""
    before, after = (side["confidence"] for side in _sides(found))
    if before == after:
        return gettext("weak as now") if after == Confidence.WEAK else gettext("grounded as now")
    if after == Confidence.WEAK:
        return gettext("grounded → weak")
    return gettext("weak → grounded")


def _marks(found: Difference, places: tuple[Place, ...]) -> Iterator[SafeString]:
    """Say in a few words what is different about an answer."""
    before, after = _sides(found)
    if before["confidence"] != after["confidence"]:
        tone = "bad" if after["confidence"] == Confidence.WEAK else "ok"
        yield badge(_confidence(found), tone)
    if not after["units"]:
        yield badge(gettext("no answer any more"), "bad")
    elif _first(before) != _first(after):
        yield badge(gettext("another first answer"), "warn")
    elif any(each.is_exchanged for each in places):
        yield badge(gettext("other units"), "info")
    elif any(each.is_moved for each in places):
        yield badge(gettext("another order"))
    elif any(each.says_other for each in places):
        yield badge(gettext("other words"), "info")


def _first(answer: replay.Answer) -> str | None:
    return answer["units"][0][0] if answer["units"] else None


def _place(place: Place, links: Links) -> PlaceRow:
    return PlaceRow(
        unit=links[place.evidence_id],
        before="—" if place.before is None else str(place.before),
        after="—" if place.after is None else str(place.after),
        marks=tuple(_place_marks(place)),
    )


def _place_marks(place: Place) -> Iterator[SafeString]:
    if place.before is None:
        yield badge(gettext("added"), "info")
    elif place.after is None:
        yield badge(gettext("gone"), "bad")
    elif place.is_moved:
        yield badge(gettext("moved"))
    if place.says_other:
        yield badge(gettext("other words"), "info")
