"""The demo workspace is publishable as it is shipped, and its waiting note gives work to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.manifest import dump_manifest, parse_manifest
from evidence.domain.questions import parse_evaluation
from evidence.domain.tree import ChangeSet, EvidenceTree
from evidence.domain.units import CuratedEvidence, EvidenceKind
from evidence.domain.validation import validate
from evidence.preparation import prepare
from evidence.reading import read_directory
from evidence.wiring import restructurer

DEMO = Path(__file__).resolve().parents[2] / "portal" / "demo"
WORKSPACE = DEMO / "clinica-demo"


@pytest.fixture(scope="module")
def tree() -> EvidenceTree:
    return read_directory(WORKSPACE)


@pytest.fixture(scope="module")
def units(tree: EvidenceTree) -> dict[str, CuratedEvidence]:
    return {
        path: parse_curated_markdown(data.decode(), path=path)
        for path, data in tree.under("curated/").items()
    }


def test_the_demo_is_publishable_without_a_single_finding(tree):
    report = validate(tree)
    assert report.publishable
    assert report.findings == ()


def test_the_demo_shows_every_kind_in_about_twenty_units(units):
    assert {unit.kind for unit in units.values()} == set(EvidenceKind)
    assert 20 <= len(units) <= 30


def test_every_demo_file_is_in_the_form_that_the_portal_writes(tree, units):
    for path, unit in units.items():
        assert dump_curated_markdown(unit).encode() == tree.files[path], path
    manifest = tree.files["manifest.yaml"]
    assert dump_manifest(parse_manifest(manifest.decode())).encode() == manifest


def test_the_demo_asks_about_twenty_questions_in_all_three_profiles(tree):
    evaluation = parse_evaluation(tree.files["evaluation.yaml"].decode())
    assert {question.profile for question in evaluation.queries} == {"lexical", "semantic", "mixed"}
    assert 18 <= len(evaluation.queries) <= 25
    assert 4 <= len(evaluation.off_topic) <= 6


def test_every_question_expects_units_that_serve_its_purpose(tree, units):
    by_id = {unit.id: unit for unit in units.values()}
    evaluation = parse_evaluation(tree.files["evaluation.yaml"].decode())
    for question in evaluation.queries:
        for expected in question.expected:
            assert question.purpose in by_id[expected].purposes, question.id


def test_nothing_in_the_demo_is_about_a_real_person_or_a_real_host(tree):
    text = "\n".join(data.decode() for data in tree.files.values())
    urls = [word for word in text.replace("(", " ").split() if word.startswith("http")]
    assert urls
    assert all(".example/" in url for url in urls)
    assert "@" not in text


def test_preparing_the_demo_as_it_is_changes_nothing(tree):
    preparation = prepare(tree, restructurer("rules"))
    assert preparation.report.model_calls == 0
    assert preparation.change_set.changes == {}


def test_the_waiting_note_becomes_units_of_many_kinds_some_of_them_in_doubt(tree):
    note = {"source/domain/terapia-intensiva.md": (DEMO / "note-in-arrivo.md").read_bytes()}
    waiting = ChangeSet(note).apply(tree)
    preparation = prepare(waiting, restructurer("rules"))
    assert preparation.report.model_calls == 1
    proposed = {
        path: parse_curated_markdown(data.decode(), path=path)
        for path, data in preparation.change_set.changes.items()
        if path.startswith("curated/") and data is not None
    }
    assert not set(proposed) & set(tree.files)
    assert len(proposed) >= 6
    assert len({unit.kind for unit in proposed.values()}) >= 5
    doubts = {item.code for unit in proposed.values() for item in unit.review_items}
    assert "ambiguous_statement" in doubts
    report = validate(preparation.change_set.apply(waiting))
    assert not report.publishable
    assert {finding.severity for finding in report.findings} <= {"warning"}
