"""Units that speak of the same thing and say different things of it (spec 20, Warnings)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evidence.domain.dismissals import Dismissal, Dismissals, Side
from evidence.domain.findings import ValidationFinding, finding
from evidence.domain.payloads import (
    EnumPayload,
    FormulaPayload,
    GlossaryPayload,
    MappingPayload,
    Payload,
)
from evidence.domain.subjects import (
    CONFLICTING_ENUM,
    CONFLICTING_FORMULA,
    CONFLICTING_TERM,
    Sayings,
    Subject,
    sayings_of,
    subject_of,
)
from evidence.domain.unit_inspection import UnitInspection
from evidence.messages import gettext_noop

SHOWN = 5
SHOWN_CHARS = 80

_TEMPLATES = {
    CONFLICTING_FORMULA: gettext_noop("“%(subject)s” is computed in another way in %(other)s."),
    CONFLICTING_TERM: gettext_noop("“%(subject)s” means something else in %(other)s."),
    CONFLICTING_ENUM: gettext_noop(
        "%(subject)s: the values %(values)s mean something else in %(other)s."
    ),
}


@dataclass(frozen=True, slots=True)
class _Speaker:
    path: str
    side: Side
    payload: Payload
    says: Sayings


def speakers_of(
    units: Iterable[UnitInspection], *, language: str
) -> dict[Subject, list[UnitInspection]]:
    """Give the units that speak of each subject; `language` is the workspace's."""
    speakers: dict[Subject, list[UnitInspection]] = {}
    for inspection in units:
        subject = subject_of(inspection.unit, language=language) if inspection.unit else None
        if subject is not None:
            speakers.setdefault(subject, []).append(inspection)
    return speakers


def check_subject(
    subject: Subject, units: Sequence[UnitInspection], dismissed: Dismissals
) -> Iterator[ValidationFinding]:
    """Name for each unit one that says something else of the subject; depends on these units.

    Those dismissed with it are passed over. Linear in what the units say.
    """
    if len(units) < 2:
        return
    speakers = tuple(_speakers(units))
    holders = _holders(speakers)
    for speaker in speakers:
        other = _opponent(subject.code, speaker, holders, dismissed)
        if other is not None:
            yield finding(
                subject.code,
                speaker.path,
                _TEMPLATES[subject.code],
                subject=_name(speaker.payload),
                other=other.path,
                values=", ".join(_differing(speaker, other)),
            )


def _speakers(units: Sequence[UnitInspection]) -> Iterator[_Speaker]:
    for inspection in sorted(units, key=lambda each: each.path):
        unit = inspection.unit
        if unit is not None:
            side = Side(unit.id, inspection.sha256)
            yield _Speaker(inspection.path, side, unit.payload, sayings_of(unit.payload))


Holders = Mapping[str, Mapping[str, Sequence[_Speaker]]]
"""Who says what, by the part it is said of and by what is said."""


def _holders(speakers: Sequence[_Speaker]) -> Holders:
    holders: dict[str, dict[str, list[_Speaker]]] = {}
    for speaker in speakers:
        for part, saying in speaker.says.items():
            holders.setdefault(part, {}).setdefault(saying, []).append(speaker)
    return holders


def _opponent(
    code: str, speaker: _Speaker, holders: Holders, dismissed: Dismissals
) -> _Speaker | None:
    for part, saying in speaker.says.items():
        for other_saying, others in holders[part].items():
            if other_saying != saying:
                for other in others:
                    if Dismissal.of(code, speaker.side, other.side) not in dismissed:
                        return other
    return None


def _differing(speaker: _Speaker, other: _Speaker) -> list[str]:
    parts = (
        part for part, saying in speaker.says.items() if other.says.get(part, saying) != saying
    )
    return [part[:SHOWN_CHARS] for part in parts][:SHOWN]


def _name(payload: Payload) -> str:
    if isinstance(payload, FormulaPayload):
        return payload.concept[:SHOWN_CHARS]
    if isinstance(payload, (GlossaryPayload, MappingPayload)):
        return payload.term[:SHOWN_CHARS]
    return payload.column if isinstance(payload, EnumPayload) else ""
