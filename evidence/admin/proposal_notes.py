"""The notes of a proposal with their units, each note beside them with the passages marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString
from django.utils.translation import gettext

from evidence import proposed, wiring
from evidence.admin.changed_units import ChangedUnit
from evidence.admin.notes import note_html
from evidence.admin.passages import Passage
from evidence.domain.tree import MANIFEST_PATH
from evidence.models import PreparationRun, SourceRecord

NOTES_A_PAGE = 20
MAX_NOTE_BYTES = 200_000
"""A longer note is not shown beside its units; a link leads to it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """An excerpt, and the anchor of its passage in the note beside it where it was found."""

    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class NoteUnit:
    """A unit that would change, with the places it quotes."""

    item: ChangedUnit
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class ProposedNote:
    """One note of a proposal, to be accepted or left out, and what would become of its units.

    `html` is the note as it was read, with passages marked; empty when it is gone or too long.
    """

    path: str
    units: tuple[NoteUnit, ...]
    confirmed: tuple[ChangedUnit, ...] = ()
    record: int | None = None
    html: SafeString | str = ""


def by_note(units: Sequence[ChangedUnit], sources: Sequence[str]) -> tuple[ProposedNote, ...]:
    """Give the units under their notes; those of no note, which cannot be read, come last."""
    strangers = {unit.source for unit in units}.difference(sources)
    return tuple(_note(path, units) for path in (*sources, *sorted(strangers)))


@dataclass(frozen=True, slots=True)
class Overlap:
    """A file that others changed too, in words: a unit with its note, or the list of all units."""

    words: str
    path: str


@dataclass(frozen=True, slots=True)
class MovedOn:
    """What others did since a proposal was computed."""

    overlaps: tuple[Overlap, ...]


def moved_on(run: PreparationRun, units: Sequence[ChangedUnit]) -> MovedOn | None:
    """Say what overlaps with what others did; None while nobody has done anything."""
    moved = proposed.moved_since(wiring.repository(run.workspace.slug), run)
    if moved is None:
        return None
    known = {unit.path: unit for unit in units}
    return MovedOn(tuple(_overlap(path, known) for path in moved.overlaps))


def _overlap(path: str, units: Mapping[str, ChangedUnit]) -> Overlap:
    unit = units.get(path)
    if path == MANIFEST_PATH:
        return Overlap(gettext("which note yields which units"), path)
    if unit is None or not unit.source:
        return Overlap("", path)
    words = gettext("“%(title)s”, of the note %(note)s")
    return Overlap(words % {"title": unit.title, "note": unit.source}, path)


def beside(run: PreparationRun, notes: Sequence[ProposedNote]) -> tuple[ProposedNote, ...]:
    """Give these notes with their text as the preparation read it, passages marked."""
    repository = wiring.repository(run.workspace.slug)
    paths = [note.path for note in notes if note.path]
    texts = proposed.source_files(repository, run, paths)
    rows = SourceRecord.objects.filter(workspace=run.workspace_id, path__in=paths)
    records = dict(rows.values_list("path", "pk"))
    return tuple(
        _marked(number, replace(note, record=records.get(note.path)), texts)
        for number, note in enumerate(notes, start=1)
    )


def _note(path: str, units: Sequence[ChangedUnit]) -> ProposedNote:
    mine = [unit for unit in units if unit.source == path]
    return ProposedNote(
        path,
        tuple(
            NoteUnit(unit, tuple(Quote(text) for text in unit.excerpts))
            for unit in mine
            if not unit.is_confirmed
        ),
        tuple(unit for unit in mine if unit.is_confirmed),
    )


def _marked(number: int, note: ProposedNote, texts: Mapping[str, bytes]) -> ProposedNote:
    data = texts.get(note.path)
    if data is None or len(data) > MAX_NOTE_BYTES:
        return note
    passages = [
        Passage(quote.text, f"passage-{number}-{place}-{which}", unit.item.title)
        for place, unit in enumerate(note.units, start=1)
        for which, quote in enumerate(unit.quotes, start=1)
    ]
    html = note_html(note.path, data, passages)
    found = iter(Quote(each.text, _if_in(html, each.anchor)) for each in passages)
    units = tuple(replace(u, quotes=tuple(next(found) for _ in u.quotes)) for u in note.units)
    return replace(note, html=html, units=units)


def _if_in(html: str, anchor: str) -> str:
    return anchor if f'id="{anchor}"' in html else ""
