"""A change unit by unit: what is new or different, in doubt, and the passages it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence import wiring
from evidence.admin.differences import Word, words_changed
from evidence.admin.files import unit_files
from evidence.admin.rendering import render_markdown
from evidence.admin.typed_view import Part, parts
from evidence.admin.wording import Doubt, badge, doubts, kind_label
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.identifiers import slug_from_id
from evidence.domain.manifest import parse_manifest
from evidence.domain.paths import CURATED_FOLDER, EVIDENCE_FOLDER
from evidence.domain.proposed import UnitChange, change_of
from evidence.domain.tree import MANIFEST_PATH
from evidence.domain.units import CuratedEvidence
from evidence.faults import CuratorFault
from evidence.models import PreparationRun, UnitRecord
from evidence.ports import PathChange

CURATED = EVIDENCE_FOLDER + CURATED_FOLDER
TONES = {
    UnitChange.NEW: "info",
    UnitChange.CHANGED: "info",
    UnitChange.KEPT: "warn",
    UnitChange.CONFIRMED: "ok",
}


@dataclass(frozen=True, slots=True)
class ChangedUnit:
    """One unit of a change, as a page shows it; `blob` is its file after the change."""

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
    path: str = ""
    blob: str = ""
    change: UnitChange | None = None

    @property
    def anchor(self) -> str:
        """Give the name of its place on a page; empty for a file that cannot be read."""
        return f"unit-{slug_from_id(self.evidence_id)}" if self.evidence_id else ""

    @property
    def is_new(self) -> bool:
        """Tell whether there was no such unit before."""
        return self.change is UnitChange.NEW

    @property
    def is_confirmed(self) -> bool:
        """Tell whether it says what it said: only its note has changed."""
        return self.change is UnitChange.CONFIRMED


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
    path = change.path.removeprefix(EVIDENCE_FOLDER)
    unit = _unit(after or before, path)
    if unit is None:
        mark = badge(_("cannot be read"), "bad")
        return ChangedUnit(path, "", mark, (), (), "", "", (), words_changed(before, after))
    words = words_changed(before, after) if before and after else ()
    kind = _kind_of_change(change, before, unit)
    shown = _shown(unit, badge(*_change_words(kind)), words)
    blob = change.after.blob if change.after else ""
    return replace(shown, evidence_id=unit.id, path=path, blob=blob, change=kind)


def _kind_of_change(change: PathChange, before: str, unit: CuratedEvidence) -> UnitChange | None:
    """Tell what became of a unit that can be read; None when it was taken out."""
    if change.after is None:
        return None
    known = _unit(before, change.path.removeprefix(EVIDENCE_FOLDER)) if change.before else None
    return UnitChange.CHANGED if change.before and not known else change_of(known, unit)


def _change_words(change: UnitChange | None) -> tuple[str | Promise, str]:
    if change is None:
        return _("taken out"), "bad"
    return gettext(change.label), TONES[change]


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
        if change.path == f"{EVIDENCE_FOLDER}{MANIFEST_PATH}" and change.after:
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
