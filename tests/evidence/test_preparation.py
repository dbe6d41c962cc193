"""Preparation is a pure function: a tree and answers in, one change set and a report out."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from evidence.candidates import CandidateRefused
from evidence.domain.codec import dump_curated_markdown, parse_curated_markdown
from evidence.domain.findings import ERROR_CODES
from evidence.domain.identifiers import unit_path
from evidence.domain.manifest import Manifest, ManifestInvalid, dump_manifest
from evidence.domain.normalization import InvalidUtf8, source_hash
from evidence.domain.tree import EvidenceTree, RefusedPath
from evidence.domain.units import (
    CuratedEvidence,
    EvidenceKind,
    EvidenceScope,
    ReviewItem,
    UnitInvalid,
)
from evidence.ports import RestructureCandidate, RestructureRequest, RestructuringFailed
from evidence.preparation import PreparationRefused, Terms, prepare
from tests.evidence.trees import EXCERPT, NOTE, a_candidate, a_tree, the_manifest
from tests.fakes import ScriptedRestructurer

SOURCE = "source/eta.md"
UNIT = "curated/glossary/paziente-pediatrico.md"
ID = "evidence:paziente-pediatrico"


def prepared(tree: EvidenceTree, *candidates: RestructureCandidate) -> EvidenceTree:
    """Give the tree after preparing it, each source answered with these candidates."""
    restructurer = ScriptedRestructurer(lambda _: candidates)
    return prepare(tree, restructurer).change_set.apply(tree)


def unit_in(tree: EvidenceTree, path: str) -> CuratedEvidence:
    """Read a unit of a tree."""
    return parse_curated_markdown(tree.files[path].decode(), path=path)


def with_files(tree: EvidenceTree, **changes: str | None) -> EvidenceTree:
    """Give a tree with sources replaced (by name without suffix), or removed where None."""
    files = dict(tree.files)
    for name, text in changes.items():
        path = f"source/{name}.md"
        if text is None:
            files.pop(path)
        else:
            files[path] = text.encode()
    return replace(tree, files=files)


@pytest.fixture
def once() -> EvidenceTree:
    """A tree with one source that yielded one unit."""
    return prepared(a_tree({SOURCE: NOTE}), a_candidate())


def test_a_new_source_yields_units_and_a_manifest(once: EvidenceTree) -> None:
    unit = unit_in(once, UNIT)
    assert unit.id == ID
    assert unit.provenance.source_file == SOURCE
    assert unit.provenance.source_sha256 == source_hash(NOTE)
    assert the_manifest(once).sources[SOURCE].units == (ID,)


def test_a_second_run_makes_no_call_and_changes_no_byte(once: EvidenceTree) -> None:
    restructurer = ScriptedRestructurer({})
    again = prepare(once, restructurer)
    assert not again.change_set
    assert restructurer.requests == []
    assert again.report.model_calls == 0
    assert again.report.unchanged == (SOURCE,)


def test_each_new_or_changed_source_is_asked_about_exactly_once(once: EvidenceTree) -> None:
    tree = with_files(once, eta=NOTE + "Altro.\n", nuova="Nuova nota.\n")
    restructurer = ScriptedRestructurer({})
    report = prepare(tree, restructurer).report
    assert restructurer.asked == [SOURCE, "source/nuova.md"]
    assert report.model_calls == 2
    assert report.changed == (SOURCE, "source/nuova.md")


def test_a_restructurer_is_given_the_units_that_its_source_produced_before(
    once: EvidenceTree,
) -> None:
    restructurer = ScriptedRestructurer({})
    prepare(with_files(once, eta=NOTE + "Altro.\n", nuova="Nuova.\n"), restructurer)
    given = {each.source_file: each.previous_units for each in restructurer.requests}
    assert given == {SOURCE: (unit_in(once, UNIT),), "source/nuova.md": ()}


def test_line_ends_alone_are_no_change(once: EvidenceTree) -> None:
    tree = with_files(once, eta="\ufeff" + NOTE.replace("\n", "\r\n"))
    assert not prepare(tree, ScriptedRestructurer({})).change_set


def test_a_source_may_rightly_yield_no_unit() -> None:
    tree = prepared(a_tree({SOURCE: NOTE}))
    assert the_manifest(tree).sources[SOURCE].units == ()


def test_an_answer_keeps_an_id_whatever_the_title_becomes(once: EvidenceTree) -> None:
    tree = with_files(once, eta=NOTE + "Altro.\n")
    after = prepared(tree, a_candidate("Minorenne", existing_id=ID))
    assert unit_in(after, UNIT).title == "Minorenne"


def test_a_kind_only_reclassification_keeps_the_id_and_moves_the_file(once: EvidenceTree) -> None:
    tree = with_files(once, eta=NOTE + "Altro.\n")
    moved = a_candidate(
        existing_id=ID, kind=EvidenceKind.DOMAIN, payload={"topic": "Età"}, body="Testo."
    )
    after = prepared(tree, moved)
    assert UNIT not in after.files
    assert unit_in(after, "curated/domain/paziente-pediatrico.md").id == ID


def test_a_split_gives_new_ids_and_asks_whether_to_retire_the_old_unit(once: EvidenceTree) -> None:
    tree = with_files(once, eta=NOTE + "Altro.\n")
    after = prepared(tree, a_candidate("Neonato"), a_candidate("Adolescente"))
    assert [item.code for item in unit_in(after, UNIT).review_items] == ["retirement_candidate"]
    assert the_manifest(after).sources[SOURCE].units == (
        "evidence:adolescente",
        "evidence:neonato",
        ID,
    )


def test_a_unit_whose_excerpt_is_gone_stays_and_blocks(once: EvidenceTree) -> None:
    after = prepared(with_files(once, eta="Tutto riscritto.\n"))
    unit = unit_in(after, UNIT)
    assert [item.code for item in unit.review_items] == ["source_no_longer_supports_unit"]
    assert unit.payload == unit_in(once, UNIT).payload
    assert unit.provenance.source_sha256 == source_hash("Tutto riscritto.\n")


def test_a_doubt_about_support_is_not_raised_twice(once: EvidenceTree) -> None:
    after = prepared(with_files(once, eta="Tutto riscritto.\n"))
    again = prepared(with_files(after, eta="Di nuovo.\n"))
    assert [item.code for item in unit_in(again, UNIT).review_items] == [
        "source_no_longer_supports_unit"
    ]


def test_an_answer_may_say_that_a_unit_lost_its_support(once: EvidenceTree) -> None:
    doubt = ReviewItem(code="source_no_longer_supports_unit", message="Non c'è più.")
    answer = a_candidate(existing_id=ID, review_items=(doubt,))
    after = prepared(with_files(once, eta="Tutto riscritto.\n"), answer)
    assert [item.code for item in unit_in(after, UNIT).review_items] == [doubt.code]


def test_a_removed_source_makes_its_units_orphans_and_touches_no_file(once: EvidenceTree) -> None:
    result = prepare(with_files(once, eta=None), ScriptedRestructurer({}))
    assert list(result.change_set.changes) == ["manifest.yaml"]
    after = result.change_set.apply(once)
    assert the_manifest(after).orphans == (ID,)
    assert result.report.orphaned == (ID,)
    assert result.report.review_required


def test_a_source_that_comes_back_takes_its_orphans_in(once: EvidenceTree) -> None:
    gone = with_files(once, eta=None)
    gone = prepare(gone, ScriptedRestructurer({})).change_set.apply(gone)
    after = prepared(with_files(gone, eta=NOTE), a_candidate(existing_id=ID))
    assert the_manifest(after) == the_manifest(once)


def test_a_renamed_source_keeps_its_ids_and_costs_no_call(once: EvidenceTree) -> None:
    tree = with_files(once, eta=None, anni=NOTE)
    restructurer = ScriptedRestructurer({})
    result = prepare(tree, restructurer)
    after = result.change_set.apply(tree)
    assert restructurer.requests == []
    assert result.report.renamed == {SOURCE: "source/anni.md"}
    unit, before = unit_in(after, UNIT), unit_in(once, UNIT)
    assert unit.provenance.source_file == "source/anni.md"
    assert unit.model_copy(update={"provenance": before.provenance}) == before
    assert list(the_manifest(after).sources) == ["source/anni.md"]


def test_an_ambiguous_rename_is_a_removed_and_a_new_source(once: EvidenceTree) -> None:
    tree = with_files(once, eta=None, anni=NOTE, copia=NOTE)
    restructurer = ScriptedRestructurer({})
    report = prepare(tree, restructurer).report
    assert report.renamed == {}
    assert restructurer.asked == ["source/anni.md", "source/copia.md"]
    assert report.orphaned == (ID,)


def test_colliding_titles_are_numbered_in_path_order_then_answer_order() -> None:
    answers = {
        "source/b.md": (a_candidate(), a_candidate()),
        "source/a.md": (a_candidate(),),
    }
    tree = a_tree({"source/b.md": NOTE, "source/a.md": NOTE + "\n\nBis.\n"})
    after = prepare(tree, ScriptedRestructurer(answers)).change_set.apply(tree)
    manifest = the_manifest(after)
    assert manifest.sources["source/a.md"].units == (ID,)
    assert manifest.sources["source/b.md"].units == (f"{ID}-2", f"{ID}-3")


def test_the_ids_of_orphans_stay_taken(once: EvidenceTree) -> None:
    gone = with_files(once, eta=None)
    gone = prepare(gone, ScriptedRestructurer({})).change_set.apply(gone)
    after = prepared(with_files(gone, altra=NOTE + "Altra.\n"), a_candidate())
    assert the_manifest(after).sources["source/altra.md"].units == (f"{ID}-2",)


def test_a_unit_that_no_source_lists_is_adopted_by_the_source_it_names(once: EvidenceTree) -> None:
    files = {path: data for path, data in once.files.items() if path != "manifest.yaml"}
    restructurer = ScriptedRestructurer({SOURCE: (a_candidate(existing_id=ID),)})
    after = prepare(replace(once, files=files), restructurer).change_set
    assert list(after.changes) == ["manifest.yaml"]
    assert restructurer.requests[0].previous_units[0].id == ID


@pytest.mark.parametrize(
    ("candidates", "code"),
    [
        ((a_candidate(excerpts=("Non c'è.",)),), "excerpt_not_found"),
        ((a_candidate(existing_id="evidence:altrui"),), "existing_id_unknown"),
        ((a_candidate(existing_id=ID), a_candidate(existing_id=ID)), "existing_id_repeated"),
        ((a_candidate(payload={"term": "x"}),), "unit_invalid"),
        ((a_candidate(excerpts=()),), "unit_invalid"),
        ((a_candidate(body="password = 'hunter2hunter2'"),), "credential_detected"),
        ((a_candidate(body="x" * 70_000),), "unit_too_large"),
    ],
)
def test_an_answer_that_breaks_a_rule_fails_the_run_and_names_the_source(
    once: EvidenceTree, candidates: tuple[RestructureCandidate, ...], code: str
) -> None:
    with pytest.raises(CandidateRefused) as refused:
        prepared(with_files(once, eta=NOTE + "Altro.\n"), *candidates)
    assert (refused.value.code, refused.value.path) == (code, SOURCE)
    assert "hunter2" not in str(refused.value)


def test_a_unit_may_not_quote_another_source() -> None:
    tree = a_tree({"source/a.md": NOTE, "source/b.md": "Altro.\n"})
    with pytest.raises(CandidateRefused, match="does not occur") as refused:
        prepared(tree, a_candidate())
    assert refused.value.path == "source/b.md"


def test_a_credential_in_a_source_stops_before_any_call() -> None:
    restructurer = ScriptedRestructurer({})
    tree = a_tree({"source/a.md": NOTE, "source/b.md": "Nota.\npassword = 'hunter2hunter2'\n"})
    with pytest.raises(PreparationRefused) as refused:
        prepare(tree, restructurer)
    assert (refused.value.code, refused.value.path) == ("credential_detected", "source/b.md")
    assert refused.value.line == 2
    assert "hunter2" not in str(refused.value)
    assert restructurer.requests == []


def test_a_failing_restructurer_fails_the_run_with_the_first_source_in_order() -> None:
    def fail(request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        if request.source_file == "source/a.md":
            time.sleep(0.05)
        raise RestructuringFailed("No answer.", code="pi_timeout")

    tree = a_tree({f"source/{name}.md": f"Nota {name}.\n" for name in "ab"})
    with pytest.raises(RestructuringFailed) as failed:
        prepare(tree, ScriptedRestructurer(fail), terms=Terms(concurrency=2))
    assert (failed.value.code, failed.value.path) == ("pi_timeout", "source/a.md")


def test_results_are_used_in_path_order_however_late_they_come() -> None:
    def slow_first(request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        time.sleep(0.05 if request.source_file == "source/a.md" else 0)
        return (a_candidate(excerpts=(request.normalized_text.strip(),)),)

    tree = a_tree({f"source/{name}.md": f"Nota {name}.\n" for name in "abcd"})
    seen: list[tuple[int, int]] = []
    result = prepare(
        tree,
        ScriptedRestructurer(slow_first),
        progress=lambda done, total, _: seen.append((done, total)),
    )
    manifest = the_manifest(result.change_set.apply(tree))
    assert manifest.sources["source/a.md"].units == (ID,)
    assert manifest.sources["source/d.md"].units == (f"{ID}-4",)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_only_limits_the_work_to_the_named_sources(once: EvidenceTree) -> None:
    tree = with_files(once, eta=NOTE + "Altro.\n", nuova="Nuova.\n")
    restructurer = ScriptedRestructurer({})
    result = prepare(tree, restructurer, only=["source/nuova.md"])
    assert restructurer.asked == ["source/nuova.md"]
    manifest = the_manifest(result.change_set.apply(tree))
    assert manifest.sources[SOURCE] == the_manifest(once).sources[SOURCE]


def test_another_pipeline_version_is_refused_unless_upgraded(once: EvidenceTree) -> None:
    old = the_manifest(once).model_copy(update={"pipeline_version": "evidence-authoring-v0"})
    tree = replace(once, files={**once.files, "manifest.yaml": dump_manifest(old).encode()})
    restructurer = ScriptedRestructurer({SOURCE: (a_candidate(existing_id=ID),)})
    with pytest.raises(PreparationRefused) as refused:
        prepare(tree, restructurer)
    assert refused.value.code == "pipeline_version_mismatch"
    upgraded = prepare(tree, restructurer, upgrade=True)
    assert restructurer.asked == [SOURCE]
    assert the_manifest(upgraded.change_set.apply(tree)) == the_manifest(once)


def test_an_upgrade_reprocesses_every_source_even_a_renamed_one(once: EvidenceTree) -> None:
    tree = with_files(once, eta=None, anni=NOTE, altra="Altra.\n")
    answers = {"source/anni.md": (a_candidate(existing_id=ID),)}
    restructurer = ScriptedRestructurer(answers)
    after = prepare(tree, restructurer, upgrade=True).change_set.apply(tree)
    assert restructurer.asked == ["source/altra.md", "source/anni.md"]
    assert unit_in(after, UNIT).provenance.source_file == "source/anni.md"


def test_a_source_that_is_no_longer_accepted_counts_as_removed(once: EvidenceTree) -> None:
    narrowed = a_tree(
        once.files,
        workspace="schema_version: 1\nslug: c\ntitle: C\nlanguage: it\n"
        "evidence:\n  exclude:\n  - eta.md\n",
    )
    assert prepare(narrowed, ScriptedRestructurer({})).report.orphaned == (ID,)


@pytest.mark.parametrize(
    ("files", "fault", "code", "path"),
    [
        ({SOURCE: b"caff\xe8"}, InvalidUtf8, "invalid_utf8", SOURCE),
        ({SOURCE: b"x" * (1024 * 1024 + 1)}, PreparationRefused, "source_too_large", SOURCE),
        ({"manifest.yaml": "no"}, ManifestInvalid, "manifest_invalid", ""),
    ],
)
def test_a_file_that_cannot_be_read_stops_the_run(
    files: dict[str, str | bytes], fault: type[Exception], code: str, path: str
) -> None:
    with pytest.raises(fault) as refused:
        prepare(a_tree(files), ScriptedRestructurer({}))
    assert refused.value.code == code  # type: ignore[attr-defined]
    assert path in {refused.value.path, ""}  # type: ignore[attr-defined]


def test_a_broken_unit_of_a_changed_source_stops_the_run(once: EvidenceTree) -> None:
    broken = replace(once, files={**once.files, UNIT: b"---\nid: x\n---\n"})
    assert not prepare(broken, ScriptedRestructurer({})).change_set
    with pytest.raises(UnitInvalid) as refused:
        prepare(with_files(broken, eta="Altro.\n"), ScriptedRestructurer({}))
    assert refused.value.path == UNIT


def test_a_refused_path_stops_the_run_rather_than_counting_as_removed(once: EvidenceTree) -> None:
    tree = replace(with_files(once, eta=None), refused=(RefusedPath(SOURCE, "symlink_refused"),))
    with pytest.raises(PreparationRefused) as refused:
        prepare(tree, ScriptedRestructurer({}))
    assert refused.value.code == "symlink_refused"


def test_a_folder_without_workspace_file_is_refused() -> None:
    tree = EvidenceTree(workspace=None, workspace_yaml=None, files={})
    with pytest.raises(PreparationRefused) as refused:
        prepare(tree, ScriptedRestructurer({}))
    assert refused.value.code == "workspace_missing"


def test_a_unit_edited_by_hand_is_written_only_when_something_changes(once: EvidenceTree) -> None:
    edited = unit_in(once, UNIT).model_copy(update={"body": "Nota del curatore."})
    text = dump_curated_markdown(edited)
    tree = replace(once, files={**once.files, unit_path(edited.kind, edited.id): text.encode()})
    assert not prepare(tree, ScriptedRestructurer({})).change_set


def test_a_report_is_bounded_and_counts_what_it_leaves_out() -> None:
    tree = a_tree({f"source/{number:04}.md": f"Nota {number}.\n" for number in range(250)})
    report = prepare(tree, ScriptedRestructurer({})).report.as_json()
    assert len(report["changed"]) == 200  # type: ignore[arg-type]
    assert report["omitted"]["changed"] == 50  # type: ignore[index]
    assert report["model_calls"] == 250
    assert report["cached"] == 0


def test_the_findings_of_a_report_judge_the_tree_after_the_change(once: EvidenceTree) -> None:
    report = prepare(once, ScriptedRestructurer({})).report
    codes = {found.code for found in report.validation.findings}
    assert codes == {"evaluation_missing"}
    assert codes <= ERROR_CODES
    assert not report.review_required


def test_a_unit_keeps_the_language_a_curator_gave_it(once: EvidenceTree) -> None:
    english = unit_in(once, UNIT).model_copy(update={"language": "en"})
    tree = replace(once, files={**once.files, UNIT: dump_curated_markdown(english).encode()})
    after = prepared(with_files(tree, eta=NOTE + "Altro.\n"), a_candidate(existing_id=ID))
    assert unit_in(after, UNIT).language == "en"


def test_an_empty_workspace_gets_an_empty_manifest() -> None:
    after = prepared(a_tree({}))
    assert the_manifest(after) == Manifest()


def test_excerpts_are_looked_up_after_the_normalization_of_sources() -> None:
    decomposed = NOTE.replace("à", "a\u0300").replace("\n", "\r\n")
    after = prepared(a_tree({SOURCE: decomposed}), a_candidate(scope=EvidenceScope()))
    assert unit_in(after, UNIT).provenance.supporting_excerpts == (EXCERPT,)
