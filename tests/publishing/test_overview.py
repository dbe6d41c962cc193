"""What pages and the command line may know, in a number of queries that does not grow."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from publishing import overview, publication
from publishing.domain.lifecycle import GenerationState
from publishing.models import Evaluation, Generation
from publishing.overview import GenerationUnknown
from tests.publishing.making import SLUG, Scene, a_registered, an_approver

pytestmark = pytest.mark.django_db


def test_the_active_generation_comes_with_what_a_search_needs(scene: Scene) -> None:
    row = scene.published()
    live = overview.active(SLUG)
    assert live is not None
    assert (live.stored.id, live.threshold, live.embedder) == (
        row.pk,
        row.threshold,
        scene.embedder.id,
    )
    assert (live.stored.attempt, live.stored.avg_len) == (row.attempt, row.avg_len)


def test_nothing_is_active_before_the_first_activation(scene: Scene) -> None:
    scene.candidate()
    assert overview.active(SLUG) is None


def test_generations_are_listed_newest_first_with_their_newest_exam(scene: Scene) -> None:
    first, second = scene.published(), scene.published()
    publication.reexamine(SLUG, None, parts=scene.parts)
    listed = overview.generation_summaries(SLUG)
    assert [one.id for one in listed] == [second.pk, first.pk]
    newest = Evaluation.objects.filter(generation=second).order_by("-pk").first()
    assert newest is not None
    assert listed[0].evaluation is not None
    assert listed[0].evaluation.id == newest.pk
    assert listed[0].approved_by == "approvatore"


def test_listing_more_generations_takes_no_more_queries(
    scene: Scene, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (1, 3):
        while Generation.objects.count() < count:
            scene.published()
        with django_assert_num_queries(2):
            overview.generation_summaries(SLUG)


def test_an_unknown_generation_is_a_fault(scene: Scene) -> None:
    with pytest.raises(GenerationUnknown):
        overview.generation_summary(SLUG, uuid4())


def test_a_generation_of_another_workspace_is_unknown_here(scene: Scene) -> None:
    row = scene.published()
    with pytest.raises(GenerationUnknown):
        overview.generation_summary("altra", row.pk)


def test_exams_are_listed_newest_first_with_their_worst_questions(scene: Scene) -> None:
    scene.published()
    publication.reexamine(SLUG, None, parts=scene.parts)
    exams = overview.evaluation_summaries(SLUG)
    assert len(exams) == 2
    assert exams[0].at >= exams[1].at
    assert len(exams[0].worst(2)) == 2


def test_status_shows_the_open_approval(portal_home: Path) -> None:
    workspace = a_registered(portal_home, single_approver=True)
    workspace.approve(an_approver())
    found = overview.status(SLUG)
    assert found.open_approval is not None
    assert found.open_approval.as_json() == {
        "revision": workspace.head().commit,
        "approved_by": "approvatore",
        "approved_at": found.open_approval.approved_at.isoformat(),
        "note": "Marzo",
    }
    assert [one.state for one in found.generations] == [GenerationState.BUILDING]
    assert found.behind is None
