"""Take the formulas of the old store over: a source, a unit and a listing each (spec 20)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from evidence.domain.codec import UnitTooLarge
from evidence.domain.formats import is_accepted
from evidence.domain.identifiers import evidence_id_for, identifier_parts, slug_of
from evidence.domain.legacy_formulas import REVIEWED, LegacyFormula, LegacyStore
from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest, manifest_of
from evidence.domain.normalization import normalize_source, source_hash
from evidence.domain.sections import Section, sectioned
from evidence.domain.tree import MANIFEST_PATH, ChangeSet, EvidenceTree
from evidence.domain.unit_files import UnitFiles
from evidence.domain.units import CuratedEvidence, UnitInvalid, build_unit
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

FOLDER = "source/legacy/"
MAX_EXCERPT = 1_000
_FORMER_SOURCES: Mapping[str, str] = {"it": "Fonti precedenti", "en": "Former sources"}


class MigrationRefused(CuratorFault):
    """Formulas cannot be taken over into this workspace, or this one cannot; says why."""

    code = "migration_refused"


@dataclass(frozen=True, slots=True)
class Migrated:
    """One formula that became a unit."""

    concept: str
    evidence_id: str
    source: str


@dataclass(frozen=True, slots=True)
class Migration:
    """What taking the formulas over changes, and what became of each of them.

    `kept` are sources from an earlier run, left as they are; `proposals` were never reviewed, so
    no unit is made of them.
    """

    change_set: ChangeSet
    migrated: tuple[Migrated, ...]
    kept: tuple[str, ...]
    proposals: tuple[LegacyFormula, ...]
    refused: tuple[CuratorFault, ...]

    def as_json(self) -> dict[str, object]:
        """Give the report as `--json` prints it."""
        return {
            "migrated": [
                {"concept": each.concept, "evidence_id": each.evidence_id, "source": each.source}
                for each in self.migrated
            ],
            "kept": list(self.kept),
            "proposals": [
                {"concept": each.concept, "status": each.status, "sql": each.sql}
                for each in self.proposals
            ],
            "refused": [fault.as_json() for fault in self.refused],
            "changed": list(self.change_set.changes),
        }


def migrate(tree: EvidenceTree, store: LegacyStore) -> Migration:
    """Give the change that takes over every reviewed formula that was not taken over yet.

    Pure and deterministic; run again over its own result it changes nothing, whatever curators
    made of the units since. Raises `MigrationRefused`, `ManifestInvalid`.
    """
    if tree.workspace is None:
        raise MigrationRefused(gettext_noop("The workspace file is missing or broken."))
    migrating = _Migrating.of(tree, tree.workspace.language)
    for formula in store.formulas:
        if formula.status == REVIEWED:
            migrating.take(formula)
    if migrating.migrated:
        manifest = dump_manifest(Manifest(sources=migrating.sources, orphans=migrating.orphans))
        migrating.changes[MANIFEST_PATH] = manifest.encode()
    return Migration(
        change_set=ChangeSet(migrating.changes).without_no_ops(tree),
        migrated=tuple(migrating.migrated),
        kept=tuple(migrating.kept),
        proposals=tuple(each for each in store.formulas if each.status != REVIEWED),
        refused=(*store.refused, *migrating.refused),
    )


@dataclass(slots=True)
class _Migrating:
    """One migration under way."""

    tree: EvidenceTree
    language: str
    files: UnitFiles
    taken: set[str]
    sources: dict[str, ManifestSource]
    orphans: tuple[str, ...]
    seen: set[str] = field(default_factory=set)
    changes: dict[str, bytes | None] = field(default_factory=dict)
    migrated: list[Migrated] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    refused: list[CuratorFault] = field(default_factory=list)

    @classmethod
    def of(cls, tree: EvidenceTree, language: str) -> _Migrating:
        manifest = manifest_of(tree)
        files = UnitFiles.of(tree)
        return cls(
            tree=tree,
            language=language,
            files=files,
            taken={*files.paths, *manifest.owners()},
            sources=dict(manifest.sources),
            orphans=manifest.orphans,
        )

    def take(self, formula: LegacyFormula) -> None:
        """Take one formula over, keep what is there of it, or refuse it."""
        path = f"{FOLDER}{slug_of(formula.name)}.md"
        if path in self.seen:
            self._refuse(formula, gettext_noop("Another formula has the same file name."))
        elif path in self.sources:
            self.kept.append(path)
        elif not is_accepted(path, self.tree.workspace):
            self._refuse(formula, gettext_noop("This workspace takes no notes at %(path)s."), path)
        else:
            self._add(formula, path)
        self.seen.add(path)

    def _add(self, formula: LegacyFormula, path: str) -> None:
        text = normalize_source(_note(formula, self.language).encode())
        there = self.tree.files.get(path)
        if there is not None and there != text.encode():
            self._refuse(formula, gettext_noop("There is another note at %(path)s."), path)
            return
        try:
            unit = _unit(formula, path, source_hash(text), taken=self.taken)
            self.changes.update(self.files.writing(unit))
        except (UnitInvalid, UnitTooLarge) as fault:
            fault.path = formula.name
            self.refused.append(fault)
            return
        self.taken.add(unit.id)
        self.changes[path] = text.encode()
        self.sources[path] = ManifestSource(sha256=source_hash(text), units=(unit.id,))
        self.migrated.append(Migrated(formula.concept, unit.id, path))

    def _refuse(self, formula: LegacyFormula, template: str, path: str = "") -> None:
        self.refused.append(MigrationRefused(Message(template, path=path), path=formula.name))


def _note(formula: LegacyFormula, language: str) -> str:
    heading = _FORMER_SOURCES.get(language, _FORMER_SOURCES["en"])
    former = (Section(heading, (_former(formula),)),) if formula.sources else ()
    return sectioned(
        [
            Section(formula.concept, (formula.wording,), formula.sql, "sql"),
            Section(words=(formula.limitations,), code=formula.rest, language="yaml"),
            *former,
        ]
    )


def _unit(
    formula: LegacyFormula, path: str, sha256: str, *, taken: Collection[str]
) -> CuratedEvidence:
    title = " ".join(formula.concept.split())
    parts = (identifier_parts(column) for column in formula.columns)
    tables = (".".join(names[:2]) for names in parts if len(names) == 3)
    return build_unit(
        {
            "schema_version": 1,
            "id": evidence_id_for(title, taken),
            "kind": "formula",
            "title": title,
            "purposes": ["sql_generation"],
            "scope": {
                "concepts": [formula.concept],
                "tables": list(dict.fromkeys(tables)),
                "columns": list(dict.fromkeys(formula.columns)),
            },
            "provenance": {
                "source_file": path,
                "source_sha256": sha256,
                "supporting_excerpts": list(_excerpts(formula)),
            },
            "payload": {
                "concept": formula.concept,
                "columns": list(formula.columns),
                "sql": formula.sql,
                "limitations": formula.limitations,
            },
            "body": formula.wording,
        }
    )


def _excerpts(formula: LegacyFormula) -> Iterator[str]:
    """Give what the unit quotes: the SQL, what limits it, and the names of its former sources."""
    for text in filter(None, (formula.sql, formula.limitations, _former(formula))):
        start = text[:MAX_EXCERPT]
        yield start if start == text else start.rpartition("\n")[0] or start


def _former(formula: LegacyFormula) -> str:
    return "\n".join(f"- {' '.join(source.split())}" for source in formula.sources)
