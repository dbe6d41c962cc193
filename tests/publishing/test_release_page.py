"""The release page: a rehearsal and what it would change, whose words, and an operator's word."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoCaptureOnCommitCallbacks

from evidence.domain.codec import dump_curated_markdown
from evidence.ports import Author
from publishing.domain.lifecycle import GenerationState
from publishing.models import Approval, Evaluation, Generation, Vouch
from tests.publishing.making import (
    SLUG,
    TERMS,
    Registered,
    a_registered,
    glossary,
    note,
    slug_of,
    workspace_files,
)
from tests.publishing.test_admin import (
    RELEASE,
    a_generation,
    a_report,
    posted,
    signed_in,
)

pytestmark = pytest.mark.django_db
_S = GenerationState
STRANGER = Author("Chi", "chi@example.org")
TERM = "fascia pediatrica"
ANSWERS = {
    slug_of(term): {"query": f"Che cosa è {term}?", "units": [f"evidence:{slug_of(term)}"]}
    for term in TERMS
}


@pytest.fixture
def workspace(portal_home: Path) -> Registered:
    User.objects.create_user("ada", email="ada@example.org", is_staff=True)
    return a_registered(portal_home)


def page_for(client: Client, **asked: str) -> str:
    return client.get(RELEASE, asked).content.decode()


def rehearse(client: Client, revision: str) -> int:
    return client.post(f"{RELEASE}rehearse/", {"revision": revision}).status_code


def vouch(client: Client, commit: str, reason: str = "Un consulente.") -> str:
    sent = {"commit": commit, "reason": reason}
    return client.post(f"{RELEASE}vouch/", sent, follow=True).content.decode()


def a_rehearsal(workspace: Registered, *, fallen: bool) -> Generation:
    """Give the head's rehearsal beside an active generation, with or without a regression."""
    first = a_generation(_S.ACTIVE, workspace.head().commit)
    Evaluation.objects.create(
        workspace=SLUG,
        generation=first,
        passed=True,
        hit_at_5=1,
        hit_at_10=1,
        question_count=len(TERMS),
        report=a_report(first.revision, rank=1),
        answers=ANSWERS,
    )
    files = workspace_files({**TERMS, "pazienti minorenni": "Chi ha meno di diciotto anni."})
    workspace.commit(files, author=Author("Ada Lovelace", "ada@example.org"), message="Minorenni")
    row = a_generation(_S.READY, workspace.head().commit)
    report = a_report(row.revision, rank=1)
    answers = {name: dict(each) for name, each in ANSWERS.items()}
    if fallen:
        name = slug_of(TERM)
        entry = next(each for each in report["queries"] if each["id"] == name)  # type: ignore[attr-defined]
        entry["expected"][0]["fused_rank"] = 2
        answers[name]["units"] = ["evidence:pazienti-minorenni", f"evidence:{name}"]
    pair = {"unit": "evidence:pazienti-minorenni", "neighbour": f"evidence:{slug_of(TERM)}"}
    Generation.objects.filter(pk=row.pk).update(
        content_digest=workspace.head().content_digest,
        neighbours={"pairs": [{**pair, "similarity": 0.97}], "compared": 1, "fragments": 1},
    )
    Evaluation.objects.create(
        workspace=SLUG,
        generation=row,
        passed=True,
        hit_at_5=0.5,
        hit_at_10=1,
        question_count=len(TERMS),
        report=report,
        answers=answers,
    )
    return row


def test_before_a_rehearsal_the_page_says_what_one_is_good_for(workspace: Registered) -> None:
    page = page_for(signed_in("approvatore", "Approvers"))
    assert "A rehearsal builds and examines this revision" in page
    assert f'action="{RELEASE}rehearse/"' in page
    assert f'action="{RELEASE}rehearse/"' not in page_for(signed_in("lettrice", "Readers"))


def test_the_button_starts_one_rehearsal_and_sends_its_task(
    workspace: Registered, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    approver, head = signed_in("approvatore", "Approvers"), workspace.head().commit
    with django_capture_on_commit_callbacks() as sent:
        assert [rehearse(approver, head) for _ in range(2)] == [302, 302]
    row = Generation.objects.get()
    assert (row.revision, row.approval, len(sent)) == (head, None, 2)
    page = page_for(approver)
    assert f'data-progress="/admin/publishing/generation/{row.pk}/progress/"' in page
    assert "portal/progress.js" in page
    assert not Approval.objects.exists()


@pytest.mark.parametrize("group", ["Readers", "Curators", "Operators"])
def test_only_approvers_rehearse(workspace: Registered, group: str) -> None:
    assert rehearse(signed_in("qualcuno", group), workspace.head().commit) == 403
    assert not Generation.objects.exists()


def test_a_rehearsal_is_a_post_of_a_revision_that_can_be_published(workspace: Registered) -> None:
    approver = signed_in("approvatore", "Approvers")
    assert approver.get(f"{RELEASE}rehearse/").status_code == 405
    workspace.commit({"evidence/source/nuova.md": b"Una nota nuova.\n"})
    for revision in ("", "--output=x", "f" * 40, workspace.head().commit):
        assert rehearse(approver, revision) == 302
    assert not Generation.objects.exists()


def test_a_regression_shows_ranks_the_unit_above_and_the_commit_behind_it(
    workspace: Registered,
) -> None:
    a_rehearsal(workspace, fallen=True)
    page = page_for(signed_in("lettrice", "Readers"))
    assert "Che cosa è fascia pediatrica?" in page
    assert "1 → 2" in page
    assert '<span class="ep-badge ep-bad">worse</span>' in page
    assert "Now above it:" in page
    assert "Pazienti minorenni</a>" in page
    assert "Minorenni · Ada Lovelace" in page
    assert "100 % → 50 %" in page
    assert "3 questions answered as before" in page


def test_a_rehearsal_that_changes_no_answer_says_so(workspace: Registered) -> None:
    a_rehearsal(workspace, fallen=False)
    page = page_for(signed_in("lettrice", "Readers"))
    assert "Every question finds its units exactly where it did." in page
    assert '"ep-badge ep-bad"' not in page


def test_units_that_look_like_duplicates_lead_to_both(workspace: Registered) -> None:
    a_rehearsal(workspace, fallen=False)
    page = page_for(signed_in("lettrice", "Readers"))
    assert "These look like duplicates" in page
    assert "0.97" in page


def replayed(row: Generation, **found: object) -> None:
    nothing = {
        "off": "",
        "problem": "",
        "days": 14,
        "distinct": 0,
        "asked": 0,
        "unrepeatable": 0,
        "behind": 0,
        "differences": [],
    }
    Generation.objects.filter(pk=row.pk).update(replay=nothing | found)


def a_difference(number: int = 0) -> dict[str, object]:
    """Give a question whose answer loses one unit, gains one, and moves one."""
    first, second, third, _last = (f"evidence:{slug_of(term)}" for term in TERMS)
    return {
        "query": f"Chi è <minorenne> {number}?",
        "purpose": "sql_generation",
        "context": {"required_kinds": ["glossary"], "tables": ["ricoveri"]},
        "before": {"units": [[first, "a"], [second, "b"], [third, "c"]], "confidence": "grounded"},
        "after": {
            "units": [[third, "d"], [first, "a"], ["evidence:pazienti-minorenni", "e"]],
            "confidence": "weak",
        },
    }


def test_a_recent_question_that_would_be_answered_otherwise_shows_both_answers(
    workspace: Registered,
) -> None:
    row = a_rehearsal(workspace, fallen=False)
    replayed(row, distinct=5, asked=3, behind=1, unrepeatable=2, differences=[a_difference()])
    page = page_for(signed_in("lettrice", "Readers"))
    assert "1 recent question would be answered otherwise" in page
    assert "Chi è &lt;minorenne&gt; 0?" in page
    assert "grounded → weak" in page
    assert "another first answer" in page
    assert "only of kind" in page
    for mark in ("added", "gone", "moved", "other words"):
        assert f">{mark}</span>" in page
    assert "Pazienti minorenni</a>" in page
    assert "there were 5 different questions, and only the 3 asked last are compared" in page
    assert "2 searches could not be asked again" in page
    assert "1 more answer differs only behind them" in page


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"off": "PORTAL_SEARCH_LOG_TEXT"}, "with the setting PORTAL_SEARCH_LOG_TEXT"),
        ({}, "No recent question to ask again"),
        ({"distinct": 2, "asked": 2}, "Recent questions would be answered as they are now"),
        ({"distinct": 2, "problem": "embedder_changed"}, "was built with another embedder"),
        ({"distinct": 2, "problem": "vector_store_unavailable"}, "gave no answer"),
    ],
)
def test_a_replay_without_a_changed_answer_says_why(
    workspace: Registered, found: dict[str, object], words: str
) -> None:
    replayed(a_rehearsal(workspace, fallen=False), **found)
    assert words in page_for(signed_in("lettrice", "Readers"))


def test_a_rehearsal_whose_questions_are_forgotten_shows_none(workspace: Registered) -> None:
    a_rehearsal(workspace, fallen=False)
    assert 'id="replay"' not in page_for(signed_in("lettrice", "Readers"))


def test_nobody_reads_replayed_questions_who_may_not_see_the_release(
    workspace: Registered,
) -> None:
    replayed(a_rehearsal(workspace, fallen=False), differences=[a_difference()], distinct=1)
    assert "minorenne&gt;" not in page_for(Client())
    User.objects.create_user("nessuno", password="x", is_staff=True)
    nobody = Client()
    nobody.force_login(User.objects.get(username="nessuno"))
    assert nobody.get(RELEASE).status_code == 403


def test_the_release_page_asks_as_often_for_many_replayed_questions_as_for_one(
    workspace: Registered,
) -> None:
    reader = signed_in("lettrice", "Readers")
    row = a_rehearsal(workspace, fallen=False)

    def asked(count: int) -> int:
        replayed(row, distinct=count, differences=[a_difference(each) for each in range(count)])
        page_for(reader)
        with CaptureQueriesContext(connection) as queries:
            assert f"Chi è &lt;minorenne&gt; {count - 1}?" in page_for(reader)
        return len(queries)

    assert asked(1) == asked(40)


def test_approving_takes_the_very_generation_that_was_rehearsed(workspace: Registered) -> None:
    row = a_rehearsal(workspace, fallen=True)
    approver = signed_in("approvatore", "Approvers")
    assert "Approving puts this very generation to use" in page_for(approver)
    approver.post(RELEASE, posted(approver))
    assert Approval.objects.get().generations.get().pk == row.pk


def test_a_rehearsal_that_failed_says_why_and_can_be_repeated(workspace: Registered) -> None:
    approver, head = signed_in("approvatore", "Approvers"), workspace.head()
    row = a_generation(_S.FAILED, head.commit)
    Generation.objects.filter(pk=row.pk).update(
        content_digest=head.content_digest, error_code="embedder_unavailable", error_message="Giù."
    )
    page = page_for(approver)
    assert "embedder_unavailable" in page
    assert "Rehearse again" in page


def test_findings_lead_to_what_they_are_about(workspace: Registered) -> None:
    workspace.commit({"evidence/source/nuova.md": b"Una nota nuova.\n"})
    page = page_for(signed_in("lettrice", "Readers"))
    assert "blocks publication" in page
    assert "/admin/evidence/findingrecord/" in page
    assert "source/nuova.md" in page


def test_a_commit_by_nobody_waits_for_an_operator_and_then_for_somebody_else(
    workspace: Registered,
) -> None:
    commit = workspace.commit({"evidence/README.md": b"x"}, author=STRANGER)
    approver, operator = signed_in("approvatore", "Approvers"), signed_in("op", "Operators")
    assert "author_unknown" in page_for(approver)
    assert f'action="{RELEASE}vouch/"' not in page_for(approver)
    assert f'action="{RELEASE}vouch/"' in page_for(operator)
    assert "Recorded. Somebody else has to approve the revision." in vouch(operator, commit)
    assert "op vouched for it on" in page_for(approver)
    assert "Approve this revision" in page_for(approver)
    both = signed_in("op", "Approvers")
    assert "voucher_may_not_approve" in page_for(both)
    assert "voucher_may_not_approve" in both.post(RELEASE, posted(both)).content.decode()
    assert not Approval.objects.exists()


@pytest.mark.parametrize("group", ["Readers", "Curators", "Approvers"])
def test_only_operators_vouch(workspace: Registered, group: str) -> None:
    commit = workspace.commit({"evidence/README.md": b"x"}, author=STRANGER)
    sent = {"commit": commit, "reason": "x"}
    assert signed_in("qualcuno", group).post(f"{RELEASE}vouch/", sent).status_code == 403
    assert not Vouch.objects.exists()


def test_a_word_without_reason_or_for_nothing_is_refused_in_words(workspace: Registered) -> None:
    commit = workspace.commit({"evidence/README.md": b"x"}, author=STRANGER)
    operator = signed_in("op", "Operators")
    assert "Say how you know who wrote the commit." in vouch(operator, commit, " ")
    assert "nothing_to_vouch" in vouch(operator, "f" * 40)
    assert operator.get(f"{RELEASE}vouch/").status_code == 405
    assert not Vouch.objects.exists()


def test_the_release_page_asks_as_often_for_many_units_and_commits_as_for_few(
    workspace: Registered,
) -> None:
    reader = signed_in("lettrice", "Readers")
    a_rehearsal(workspace, fallen=True)
    source = note(TERMS)

    def asked() -> int:
        page_for(reader)
        with CaptureQueriesContext(connection) as queries:
            page_for(reader)
        return len(queries)

    few = asked()
    for number in range(12):
        unit = glossary(f"termine {number}", "Uno.", source=source)
        path = f"evidence/curated/glossary/termine-{number}.md"
        workspace.commit({path: dump_curated_markdown(unit).encode()})
    assert asked() <= few
