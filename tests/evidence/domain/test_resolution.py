"""Retiring and relinking are pure: one change set of the unit's file and the manifest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evidence.domain import resolution
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.tree import EvidenceTree
from evidence.preparation import prepare
from tests.evidence.trees import NOTE, a_candidate, a_tree, the_manifest
from tests.fakes import ScriptedRestructurer

ID = "evidence:paziente-pediatrico"
UNIT = "curated/glossary/paziente-pediatrico.md"


def prepared(tree: EvidenceTree) -> EvidenceTree:
    """Give the tree after a preparation in which only `source/eta.md` yields a unit."""
    restructurer = ScriptedRestructurer({"source/eta.md": (a_candidate(),)})
    return prepare(tree, restructurer).change_set.apply(tree)


@pytest.fixture
def orphaned() -> EvidenceTree:
    """A tree with one orphan, a prepared source that holds its excerpt, and one that does not."""
    tree = prepared(a_tree({"source/eta.md": NOTE}))
    files = {path: data for path, data in tree.files.items() if path != "source/eta.md"}
    files["source/nuova.md"] = (NOTE + "\nAltro.\n").encode()
    files["source/altra.md"] = b"Altro.\n"
    return prepared(replace(tree, files=files))


def test_retiring_removes_the_file_and_the_entry(orphaned: EvidenceTree) -> None:
    after = resolution.retire(orphaned, ID).apply(orphaned)
    assert UNIT not in after.files
    assert the_manifest(after).orphans == ()


def test_an_entry_without_a_file_can_be_retired_too(orphaned: EvidenceTree) -> None:
    files = {path: data for path, data in orphaned.files.items() if path != UNIT}
    change_set = resolution.retire(replace(orphaned, files=files), ID)
    assert list(change_set.changes) == ["manifest.yaml"]


def test_relinking_changes_the_origin_and_nothing_else(orphaned: EvidenceTree) -> None:
    after = resolution.relink(orphaned, ID, "source/nuova.md").apply(orphaned)
    before, unit = (parse_curated_markdown(tree.files[UNIT].decode()) for tree in (orphaned, after))
    assert unit.provenance.source_file == "source/nuova.md"
    assert unit.model_copy(update={"provenance": before.provenance}) == before
    manifest = the_manifest(after)
    assert manifest.sources["source/nuova.md"].units == (ID,)
    assert unit.provenance.source_sha256 == manifest.sources["source/nuova.md"].sha256
    assert manifest.orphans == ()


@pytest.mark.parametrize(
    ("evidence_id", "source", "code"),
    [
        ("evidence:ignota", "source/nuova.md", "evidence_unknown"),
        (ID, "source/manca.md", "source_missing"),
        (ID, "manifest.yaml", "source_missing"),
        (ID, "source/altra.md", "excerpt_not_found"),
    ],
)
def test_what_cannot_be_relinked_is_refused(
    orphaned: EvidenceTree, evidence_id: str, source: str, code: str
) -> None:
    with pytest.raises(resolution.ResolutionRefused) as refused:
        resolution.relink(orphaned, evidence_id, source)
    assert refused.value.code == code
