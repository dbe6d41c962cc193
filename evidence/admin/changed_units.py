"""A change unit by unit: what is new or different, in doubt, and the passages it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from evidence import wiring
from evidence.admin.differences import Word, words_changed
from evidence.admin.files import unit_files
from evidence.admin.rendering import render_markdown
from evidence.admin.typed_view import Part, parts
from evidence.admin.wording import Doubt, badge, doubts, kind_label
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.manifest import parse_manifest
from evidence.domain.tree import MANIFEST_PATH
from evidence.domain.units import CuratedEvidence
from evidence.faults import CuratorFault
from evidence.models import PreparationRun, UnitRecord
from evidence.ports import PathChange

FOLDER = "evidence/"
CURATED = "evidence/curated/"
RETAINED = {"source_no_longer_supports_unit", "retirement_candidate"}


@dataclass(frozen=True, slots=True)
class ChangedUnit:
    """One unit of a proposal, as the page shows it."""

    title: str
    kind: str
    badge: SafeString
    review_items: tuple[Doubt, ...]
    parts: tuple[Part, ...]
    body: SafeString | str
    source: str
    excerpts: tuple[str, ...]
    words: tuple[Word, ...] = ()
    evidence_id: str = ""
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class ChangedNote:
    """One note of a proposal, to be accepted or left out, and its units that would change."""

    path: str
    units: tuple[ChangedUnit, ...]


def by_note(units: Sequence[ChangedUnit], sources: Sequence[str]) -> tuple[ChangedNote, ...]:
    """Give the units under their notes; those of no note, which cannot be read, come last."""
    strangers = {unit.source for unit in units}.difference(sources)
    return tuple(
        ChangedNote(path, tuple(unit for unit in units if unit.source == path))
        for path in (*sources, *sorted(strangers))
    )


def proposed_units(run: PreparationRun) -> tuple[ChangedUnit, ...]:
    """Give what a proposal would do, in path order; orphans, whose files stay, come last."""
    changes, texts = _read(run.workspace.slug, run.base_commit, run.proposal_commit)
    units = (*_of_units(changes, texts), *_orphaned(run, changes, texts))
    return tuple(unit for unit in units if unit.evidence_id not in run.dropped)


def changed_units(slug: str, before: str, after: str) -> tuple[ChangedUnit, ...]:
    """Give what two revisions say differently, unit by unit, in path order."""
    return _of_units(*_read(slug, before, after))


def _read(slug: str, before: str, after: str) -> tuple[Sequence[PathChange], Mapping[str, str]]:
    repository = wiring.repository(slug)
    changes = repository.changes(before, after)
    entries = [entry for each in changes for entry in (each.before, each.after) if entry]
    blobs = repository.blobs({entry.blob for entry in entries})
    return changes, {blob: data.decode("utf-8", "replace") for blob, data in blobs.items()}


def _of_units(changes: Sequence[PathChange], texts: Mapping[str, str]) -> tuple[ChangedUnit, ...]:
    return tuple(_changed(each, texts) for each in changes if each.path.startswith(CURATED))


def _changed(change: PathChange, texts: Mapping[str, str]) -> ChangedUnit:
    before = texts[change.before.blob] if change.before else ""
    after = texts[change.after.blob] if change.after else ""
    path = change.path.removeprefix(FOLDER)
    unit = _unit(after or before, path)
    if unit is None:
        mark = badge(_("cannot be read"), "bad")
        return ChangedUnit(path, "", mark, (), (), "", "", (), words_changed(before, after))
    words = words_changed(before, after) if before and after else ()
    shown = _shown(unit, badge(*_change_words(change, unit)), words)
    return replace(shown, evidence_id=unit.id, is_new=change.before is None)


def _change_words(change: PathChange, unit: CuratedEvidence) -> tuple[str | Promise, str]:
    if change.before is None:
        return _("new"), "info"
    if change.after is None:
        return _("taken out"), "bad"
    if RETAINED & {item.code for item in unit.review_items}:
        return _("kept, in doubt"), "warn"
    return _("changed"), "info"


def _orphaned(
    run: PreparationRun, changes: Sequence[PathChange], texts: Mapping[str, str]
) -> Iterator[ChangedUnit]:
    lost = _new_orphans(changes, texts)
    rows = UnitRecord.objects.select_related("workspace").filter(
        workspace=run.workspace_id, evidence_id__in=lost
    )
    for file in unit_files(list(rows)):
        if file.unit is not None:
            yield _shown(file.unit, badge(_("loses its source"), "warn"), ())


def _new_orphans(changes: Sequence[PathChange], texts: Mapping[str, str]) -> set[str]:
    for change in changes:
        if change.path == f"{FOLDER}{MANIFEST_PATH}" and change.after:
            before = parse_manifest(texts[change.before.blob]).orphans if change.before else ()
            return set(parse_manifest(texts[change.after.blob]).orphans) - set(before)
    return set()


def _unit(text: str, path: str) -> CuratedEvidence | None:
    try:
        return parse_curated_markdown(text, path=path)
    except CuratorFault:
        return None


def _shown(unit: CuratedEvidence, mark: SafeString, words: tuple[Word, ...]) -> ChangedUnit:
    return ChangedUnit(
        title=unit.title,
        kind=kind_label(unit.kind),
        badge=mark,
        review_items=doubts(unit.review_items),
        parts=parts(unit),
        body=render_markdown(unit.body) if unit.body else "",
        source=unit.provenance.source_file,
        excerpts=tuple(unit.provenance.supporting_excerpts),
        words=words,
    )
