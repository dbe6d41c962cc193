"""Answers that cost something are kept when they are good, and only while nothing changed."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evidence.adapters.answer_cache import FileAnswerCache
from evidence.answering import PersonalDataUnconfirmed, cache_key
from evidence.candidates import CandidateRefused
from evidence.domain.tree import EvidenceTree
from evidence.domain.units import ReviewItem
from evidence.ports import RestructureCandidate, RestructureRequest, RestructuringFailed
from evidence.preparation import Terms, prepare
from tests.evidence.domain.corpus import a_unit
from tests.evidence.trees import NOTE, a_candidate, a_tree
from tests.fakes import ScriptedRestructurer

Answer = tuple[RestructureCandidate, ...]
NOTES = {f"source/{name}.md": f"Nota {name}.\n" for name in "abc"}
REQUEST = RestructureRequest(
    source_file="source/a.md",
    source_sha256="sha256:" + "1" * 64,
    normalized_text=NOTE,
    language="it",
)


class Paid(ScriptedRestructurer):
    """A scripted model elsewhere."""

    name = "paid"
    local = False
    model = "m-35b"
    skill_digest = "sha256:one"


def quoting(request: RestructureRequest) -> Answer:
    """Answer with one unit that quotes the whole note."""
    text = request.normalized_text.strip()
    return (a_candidate(f"Termine {text}", excerpts=(text,)),)


def failing_on(path: str, failure: Callable[[], Answer]) -> Paid:
    """Give a model that fails for one source."""
    return Paid(lambda each: failure() if each.source_file == path else quoting(each))


def no_answer() -> Answer:
    """Give no answer at all."""
    raise RestructuringFailed("No answer.")


@pytest.fixture
def terms(tmp_path: Path) -> Terms:
    return Terms(concurrency=1, cache=FileAnswerCache(tmp_path / "cache"))


def test_a_rerun_after_one_failed_source_asks_about_that_one_alone(terms: Terms) -> None:
    tree = a_tree(NOTES)
    with pytest.raises(RestructuringFailed):
        prepare(tree, failing_on("source/c.md", no_answer), terms=terms)
    healed = Paid(quoting)
    report = prepare(tree, healed, terms=terms).report
    assert healed.asked == ["source/c.md"]
    assert (report.model_calls, report.cached, len(report.changed)) == (1, 2, 3)
    assert report.as_json()["cached"] == 2


def test_answers_that_were_under_way_when_another_failed_are_kept(tmp_path: Path) -> None:
    terms = Terms(concurrency=4, cache=FileAnswerCache(tmp_path))
    with pytest.raises(RestructuringFailed):
        prepare(a_tree(NOTES), failing_on("source/a.md", no_answer), terms=terms)
    healed = Paid(quoting)
    prepare(a_tree(NOTES), healed, terms=terms)
    assert "source/a.md" in healed.asked
    assert len(healed.asked) < len(NOTES)


def test_a_refused_answer_is_never_kept(terms: Terms) -> None:
    tree = a_tree(NOTES)
    invented = failing_on("source/a.md", lambda: (a_candidate(excerpts=("inventato",)),))
    with pytest.raises(CandidateRefused) as refused:
        prepare(tree, invented, terms=terms)
    assert (refused.value.code, refused.value.path) == ("excerpt_not_found", "source/a.md")
    healed = Paid(quoting)
    prepare(tree, healed, terms=terms)
    assert "source/a.md" in healed.asked


def test_a_kept_answer_gives_the_same_bytes(terms: Terms) -> None:
    tree = a_tree(NOTES)
    first = prepare(tree, Paid(quoting), terms=terms)
    again = prepare(tree, Paid(quoting), terms=terms)
    assert (again.report.model_calls, again.report.cached) == (0, 3)
    assert again.change_set == first.change_set


def test_rules_cost_nothing_and_are_never_kept(terms: Terms, tmp_path: Path) -> None:
    tree, local = a_tree(NOTES), ScriptedRestructurer(quoting)
    prepare(tree, local, terms=terms)
    report = prepare(tree, local, terms=terms).report
    assert (report.model_calls, report.cached) == (3, 0)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, source_sha256="sha256:" + "2" * 64),
        replace(REQUEST, normalized_text=NOTE + "Altro.\n"),
        replace(REQUEST, language="en"),
        replace(REQUEST, curator_notes=("Troppo generico.",)),
        replace(REQUEST, previous_units=(a_unit(),)),
        replace(
            REQUEST,
            previous_units=(
                a_unit().model_copy(
                    update={"review_items": (ReviewItem(code="doubt", message="?"),)}
                ),
            ),
        ),
    ],
)
def test_the_key_changes_with_everything_that_is_asked(other: RestructureRequest) -> None:
    assert cache_key(Paid({}), other) != cache_key(Paid({}), REQUEST)


@pytest.mark.parametrize("attribute", ["name", "model", "skill_digest"])
def test_the_key_changes_with_who_is_asked(attribute: str) -> None:
    other = Paid({})
    setattr(other, attribute, "another")
    assert cache_key(other, REQUEST) != cache_key(Paid({}), REQUEST)


def test_the_key_stays_when_only_the_file_was_renamed() -> None:
    renamed = replace(REQUEST, source_file="source/b.md")
    assert cache_key(Paid({}), renamed) == cache_key(Paid({}), REQUEST)


def test_notes_of_the_curator_reach_the_source_they_are_about(terms: Terms) -> None:
    model = Paid(quoting)
    noted = replace(terms, notes={"source/b.md": ("Troppo generico.",)})
    prepare(a_tree(NOTES), model, terms=noted)
    assert {each.source_file: each.curator_notes for each in model.requests} == {
        "source/a.md": (),
        "source/b.md": ("Troppo generico.",),
        "source/c.md": (),
    }


@pytest.fixture
def with_personal_data() -> EvidenceTree:
    return a_tree(NOTES | {"source/b.md": "Chiedere a paola.rossi@example.org.\n"})


def test_personal_data_goes_to_no_model_elsewhere_unconfirmed(
    with_personal_data: EvidenceTree, terms: Terms
) -> None:
    model = Paid(quoting)
    with pytest.raises(PersonalDataUnconfirmed) as refused:
        prepare(with_personal_data, model, terms=terms)
    assert (refused.value.code, refused.value.path) == ("personal_data_suspected", "source/b.md")
    assert "paola" not in str(refused.value.as_json())
    assert model.requests == []


def test_personal_data_may_go_once_it_is_confirmed(
    with_personal_data: EvidenceTree, terms: Terms
) -> None:
    model = Paid(quoting)
    prepare(with_personal_data, model, terms=replace(terms, personal_data_confirmed=True))
    assert len(model.requests) == 3


def test_an_answer_that_is_kept_needs_no_confirmation(
    with_personal_data: EvidenceTree, terms: Terms
) -> None:
    prepare(with_personal_data, Paid(quoting), terms=replace(terms, personal_data_confirmed=True))
    assert prepare(with_personal_data, Paid(quoting), terms=terms).report.cached == 3


def test_rules_may_read_personal_data(with_personal_data: EvidenceTree) -> None:
    assert prepare(with_personal_data, ScriptedRestructurer(quoting)).report.model_calls == 3


@pytest.mark.parametrize("damage", [b"", b"{", b'{"schema_version": 2, "candidates": []}', b"\xff"])
def test_a_damaged_file_counts_as_no_answer(tmp_path: Path, damage: bytes) -> None:
    cache = FileAnswerCache(tmp_path)
    cache.put("ab" * 32, (a_candidate(),))
    (path,) = tmp_path.rglob("*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(damage)
    assert cache.get("ab" * 32) is None


def test_a_kept_answer_that_no_longer_passes_is_asked_for_again(terms: Terms) -> None:
    tree = a_tree({"source/a.md": NOTES["source/a.md"]})
    model = Paid(quoting)
    prepare(tree, model, terms=terms)
    assert terms.cache is not None
    stale = (a_candidate(excerpts=("non più ammesso",)),)
    terms.cache.put(cache_key(model, model.requests[0]), stale)
    assert prepare(tree, model, terms=terms).report.model_calls == 1


def test_a_folder_that_cannot_be_written_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "file"
    folder.write_text("no folder")
    cache = FileAnswerCache(folder)
    cache.put("ab" * 32, (a_candidate(),))
    assert cache.get("ab" * 32) is None
    assert "could not be kept" in caplog.text
