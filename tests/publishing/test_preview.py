"""A rehearsal beside what answers now: ranks, and units that look like duplicates."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from evidence.domain.codec import dump_curated_markdown
from evidence.overview import RevisionSummary
from publishing import neighbours, preview
from publishing.domain.lifecycle import GenerationState
from publishing.domain.preview import Verdict
from publishing.models import Evaluation, Generation
from publishing.preview import Preview
from tests.publishing.making import NOON, SLUG, TERMS, Scene, glossary, note, slug_of

pytestmark = pytest.mark.django_db
TERM = "fascia pediatrica"
COPY = "pazienti pediatrici"


def unit_file(term: str, text: str) -> dict[str, bytes]:
    unit = glossary(term, text, source=note(TERMS))
    name = unit.id.removeprefix("evidence:")
    return {f"evidence/curated/glossary/{name}.md": dump_curated_markdown(unit).encode()}


def copied() -> dict[str, bytes]:
    """Give a unit that says almost what another says, under another name."""
    (path,) = unit_file(COPY, TERMS[TERM])
    (data,) = unit_file(TERM, TERMS[TERM]).values()
    text = data.decode().replace("evidence:fascia-pediatrica", "evidence:pazienti-pediatrici")
    return {path: text.encode()}


def rehearsed(scene: Scene, *, expected: GenerationState = GenerationState.READY) -> Generation:
    row = scene.candidate()
    assert scene.advance(row) == expected
    row.refresh_from_db()
    return row


def preview_of(row: Generation) -> Preview:
    summary = RevisionSummary(
        row.revision, 1, row.content_digest, True, "", "", NOON, "", 0, 0, 0, 0
    )
    return preview.preview_of(workspace=SLUG, summary=summary)


def test_before_a_rehearsal_there_is_nothing_to_compare(scene: Scene) -> None:
    scene.published()
    scene.commit(unit_file("referto", "Esito di un esame."))
    found = preview_of(Generation(revision="b" * 40, content_digest="x"))
    assert found == Preview(candidate=None, before=None, after=None)


def test_a_rehearsal_is_compared_with_what_answers_now(scene: Scene) -> None:
    scene.published()
    scene.commit(unit_file("referto", "Esito di un esame."))
    row = rehearsed(scene)
    found = preview_of(row)
    assert found.candidate is not None
    assert found.candidate.id == row.pk
    assert found.before is not None
    assert found.after is not None
    assert found.before.id != found.after.id
    assert {each.verdict for each in found.questions} == {Verdict.SAME}
    assert {each.query for each in found.questions} == {
        f"Che cosa si intende per {term}?" for term in TERMS
    }
    assert found.gone == ()


def test_what_falls_behind_a_new_unit_is_a_regression_with_its_name(scene: Scene) -> None:
    scene.published()
    scene.commit(copied())
    row = rehearsed(scene)
    exam = Evaluation.objects.get(generation=row)
    # The two tie in this embedder; the new one is put first, as a stronger one would come.
    name = slug_of(TERM)
    exam.answers[name]["units"] = ["evidence:pazienti-pediatrici", f"evidence:{name}"]
    entry = next(each for each in exam.report["queries"] if each["id"] == name)
    entry["expected"][0]["fused_rank"] = 2
    exam.save()
    first = preview_of(row).questions[0]
    assert (first.id, first.verdict) == (name, Verdict.WORSE)
    assert first.expected[0].overtaken_by == ("evidence:pazienti-pediatrici",)


def test_the_first_rehearsal_ever_has_only_new_questions(scene: Scene) -> None:
    found = preview_of(rehearsed(scene))
    assert found.before is None
    assert {each.verdict for each in found.questions} == {Verdict.NEW}
    assert found.duplicates == {"pairs": [], "compared": 0, "fragments": 0}


def test_a_new_unit_that_says_the_same_looks_like_a_duplicate(scene: Scene) -> None:
    scene.published()
    scene.commit(copied() | unit_file("referto", "Esito di un esame."))
    row = rehearsed(scene)
    assert row.neighbours == {
        "pairs": [
            {
                "unit": "evidence:pazienti-pediatrici",
                "neighbour": "evidence:fascia-pediatrica",
                "similarity": 1.0,
            }
        ],
        "compared": 2,
        "fragments": 2,
    }


def test_an_approved_candidate_is_not_searched_for_duplicates(scene: Scene) -> None:
    scene.published()
    scene.commit(copied())
    assert scene.published().neighbours == []


def test_looking_for_duplicates_follows_the_change_and_has_a_bound(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "MOST", 1)
    scene.published()
    scene.commit(copied() | unit_file("referto", "Esito di un esame."))
    row = rehearsed(scene)
    assert (row.neighbours["compared"], row.neighbours["fragments"]) == (1, 2)


def test_a_preview_takes_four_queries_at_most(
    scene: Scene, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    scene.published()
    scene.commit(unit_file("referto", "Esito di un esame."))
    row = rehearsed(scene)
    with django_assert_max_num_queries(4):
        preview_of(row)
