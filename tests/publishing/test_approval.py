"""Who may approve what; and of two who approve at once, one wins and the other is told who."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread

import pytest
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from pytest_django import DjangoAssertNumQueries

from evidence import overview
from evidence.faults import Fault
from evidence.ports import Actor, Author, RevisionUnknown
from publishing import approval, four_eyes, transitions
from publishing.approval import ApprovalOpen, Approved
from publishing.domain.lifecycle import ApprovalState, GenerationState
from publishing.eligibility import NotPublishable, OlderThanActive, RevisionMoved
from publishing.four_eyes import AuthorMayNotApprove, AuthorUnknown
from publishing.models import Approval, Generation, PublicationEvent
from publishing.permissions import NotPermitted
from publishing.transitions import ApprovalClosed
from tests.publishing.making import (
    CAUSE,
    SLUG,
    TERMS,
    WORKSPACE_YAML,
    Registered,
    a_registered,
    an_approver,
    workspace_files,
)

_S = GenerationState
ADA = Author("Ada Lovelace", "ada@example.org")
GRACE = Author("Grace Hopper", "grace@example.org")
SINGLE = WORKSPACE_YAML + "publication:\n  require_distinct_approver: false\n"


@pytest.fixture
def workspace(portal_home: Path) -> Registered:
    """Give a workspace whose first commit was written by Ada, who is a user."""
    get_user_model().objects.create_user("ada", email="Ada@Example.org")
    return a_registered(portal_home)


def activated(approved: Approved) -> None:
    """Let an approved candidate become active without a store: these tests ask only about words."""
    row = Generation.objects.get(pk=approved.generation)
    old = Generation.objects.filter(workspace=SLUG, state=_S.ACTIVE).first()
    if old is not None:
        transitions.move(old, _S.SUPERSEDED, cause=CAUSE)
    for state in (_S.EVALUATING, _S.READY, _S.ACTIVE):
        transitions.move(row, state, cause=CAUSE)
    given = Approval.objects.get(pk=approved.approval)
    transitions.close_approval(given, ApprovalState.ACTIVATED, cause=CAUSE)


def changed(number: int = 1) -> dict[str, bytes]:
    return dict(workspace_files({**TERMS, "referto": f"Esito numero {number} di un esame."}))


@pytest.mark.django_db
def test_an_approval_binds_revision_and_digest_and_starts_a_candidate(
    workspace: Registered,
) -> None:
    approved = workspace.approve(an_approver())
    row = Generation.objects.get(pk=approved.generation)
    given = Approval.objects.get(pk=approved.approval)
    head = workspace.head()
    assert (given.revision, given.content_digest) == (head.commit, head.content_digest)
    assert (given.state, given.approved_by, given.note) == ("open", "approvatore", "Marzo")
    assert (row.state, row.revision, row.content_digest) == (
        "building",
        head.commit,
        head.content_digest,
    )
    assert (row.collection, row.language, row.fusion, row.prefetch) == (SLUG, "it", "rrf", 20)
    assert PublicationEvent.objects.get(approval=given, generation=None).to_state == "open"


@pytest.mark.django_db
def test_what_the_workspace_file_says_of_retrieval_is_part_of_the_candidate(
    workspace: Registered,
) -> None:
    text = WORKSPACE_YAML + "retrieval:\n  fusion: dbsf\n  prefetch: 100\n"
    workspace.commit({"workspace.yaml": text.encode()})
    row = Generation.objects.get(pk=workspace.approve(an_approver()).generation)
    assert (row.fusion, row.prefetch) == ("dbsf", 100)


@pytest.mark.django_db
def test_without_the_permission_nothing_is_approved(workspace: Registered) -> None:
    get_user_model().objects.create_user("curatrice", is_staff=True)
    with pytest.raises(NotPermitted):
        workspace.approve(Actor(username="curatrice", name="", email=""))
    assert not Approval.objects.exists()


@pytest.mark.django_db
def test_a_revision_with_an_open_review_item_is_not_publishable(workspace: Registered) -> None:
    path = "evidence/curated/glossary/codice-triage.md"
    text = workspace_files()[path].decode()
    doubt = "review_items:\n- code: purpose_inferred\n  message: Giusto?\npayload:"
    workspace.commit({path: text.replace("payload:", doubt).encode()})
    with pytest.raises(NotPublishable):
        workspace.approve(an_approver())


@pytest.mark.django_db
def test_an_unknown_revision_is_not_approved(workspace: Registered) -> None:
    actor = an_approver()
    with pytest.raises(RevisionUnknown):
        approval.approve(workspace=SLUG, revision="f" * 40, content_digest="", actor=actor, note="")


@pytest.mark.django_db
def test_another_digest_than_the_approver_saw_is_a_revision_that_moved(
    workspace: Registered,
) -> None:
    head, actor = workspace.head(), an_approver()
    with pytest.raises(RevisionMoved):
        approval.approve(
            workspace=SLUG,
            revision=head.commit,
            content_digest="sha256:other",
            actor=actor,
            note="",
        )
    assert not Approval.objects.exists()


@pytest.mark.django_db
def test_a_commit_since_the_page_was_opened_is_a_revision_that_moved(
    workspace: Registered,
) -> None:
    seen, actor = workspace.head(), an_approver()
    workspace.commit(changed())
    with pytest.raises(RevisionMoved):
        approval.approve(
            workspace=SLUG,
            revision=seen.commit,
            content_digest=seen.content_digest,
            actor=actor,
            note="",
            head=seen.commit,
        )
    assert not Approval.objects.exists()


@pytest.mark.django_db
def test_an_earlier_revision_than_the_head_may_be_approved_by_name(workspace: Registered) -> None:
    first = workspace.head()
    workspace.commit(changed())
    row = Generation.objects.get(pk=workspace.approve(an_approver(), first).generation)
    assert row.revision == first.commit


@pytest.mark.django_db
def test_a_revision_older_than_the_active_one_is_refused(workspace: Registered) -> None:
    first, actor = workspace.head(), an_approver()
    workspace.commit(changed())
    activated(workspace.approve(actor))
    with pytest.raises(OlderThanActive):
        workspace.approve(actor, first)


@pytest.mark.django_db
def test_the_author_of_a_commit_from_outside_is_known_by_e_mail_and_may_not_approve(
    workspace: Registered,
) -> None:
    author = an_approver("grace")
    workspace.commit(changed(), author=GRACE)
    with pytest.raises(AuthorMayNotApprove):
        workspace.approve(author)
    assert workspace.approve(an_approver()).approval


@pytest.mark.django_db
def test_who_edited_what_somebody_else_accepted_wrote_it_too(workspace: Registered) -> None:
    accepted = overview.CommitAuthor("a" * 40, "ada", "Ada", "", editors=("grace",))
    (writers,) = four_eyes.writers_of(SLUG, [accepted])
    assert writers.names == {"ada", "grace"}


@pytest.mark.django_db
def test_a_co_author_may_not_approve_either(workspace: Registered) -> None:
    words = "Aggiunge un referto\n\nCo-authored-by: Grace Hopper <GRACE@example.org>"
    workspace.commit(changed(), author=ADA, message=words)
    with pytest.raises(AuthorMayNotApprove):
        workspace.approve(an_approver("grace"))
    assert workspace.approve(an_approver()).approval


@pytest.mark.django_db
def test_who_wrote_what_takes_two_queries(
    workspace: Registered, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        workspace.commit(changed(number), author=ADA)
    authors = overview.authors_between(SLUG, None, workspace.head().commit)
    with django_assert_num_queries(2):
        writers = four_eyes.writers_of(SLUG, authors)
    assert [one.names for one in writers] == [frozenset({"ada"})] * 4


@pytest.mark.django_db
def test_the_portals_own_record_says_who_wrote_a_commit(workspace: Registered) -> None:
    commit = workspace.commit(changed(), author=ADA)
    workspace.written_here(commit, "approvatore")
    with pytest.raises(AuthorMayNotApprove) as refused:
        workspace.approve(an_approver())
    assert commit[:12] in str(refused.value.message)


@pytest.mark.django_db
def test_an_administrator_may_not_approve_what_they_wrote_either(workspace: Registered) -> None:
    admin = an_approver("admin", is_superuser=True)
    workspace.written_here(workspace.commit(changed()), "admin")
    with pytest.raises(AuthorMayNotApprove):
        workspace.approve(admin)


@pytest.mark.django_db
def test_a_commit_whose_author_is_nobody_blocks_the_release(workspace: Registered) -> None:
    workspace.commit(changed(), author=Author("Chi", "chi@example.org"))
    with pytest.raises(AuthorUnknown):
        workspace.approve(an_approver())


@pytest.mark.django_db
def test_only_commits_since_the_active_revision_count(workspace: Registered) -> None:
    ada, grace = an_approver("approvatore"), an_approver("grace")
    workspace.commit(changed(), author=GRACE)
    activated(workspace.approve(ada))
    workspace.commit(changed(2), author=ADA)
    assert workspace.approve(grace).approval


@pytest.mark.django_db
def test_a_single_approver_may_approve_their_own_first_revision(portal_home: Path) -> None:
    workspace = a_registered(portal_home, single_approver=True)
    workspace.written_here(workspace.head().commit, "approvatore")
    assert workspace.approve(an_approver()).approval


@pytest.mark.django_db
def test_a_looser_policy_needs_an_approval_under_the_old_one(workspace: Registered) -> None:
    other, author = an_approver("altra"), an_approver("grace")
    activated(workspace.approve(other))
    workspace.commit({"workspace.yaml": SINGLE.encode()}, author=GRACE)
    with pytest.raises(AuthorMayNotApprove):
        workspace.approve(author)
    activated(workspace.approve(other))
    workspace.commit(changed() | {"workspace.yaml": SINGLE.encode()}, author=GRACE)
    assert workspace.approve(author).approval


@pytest.mark.django_db
def test_a_second_approval_is_told_who_was_first_and_when(workspace: Registered) -> None:
    workspace.approve(an_approver())
    with pytest.raises(ApprovalOpen) as refused:
        workspace.approve(an_approver("altra"))
    given = Approval.objects.get()
    assert refused.value.message.values["user"] == "approvatore"
    assert str(given.approved_at.year) in str(refused.value.message)
    assert Generation.objects.count() == 1


@pytest.mark.django_db
def test_an_approval_takes_a_rehearsal_of_the_same_revision_over(workspace: Registered) -> None:
    actor = an_approver()
    rehearsal = approval.rehearse(workspace=SLUG, revision=workspace.head().commit, actor=actor)
    assert workspace.approve(actor).generation == rehearsal
    assert Generation.objects.count() == 1


@pytest.mark.django_db
def test_an_approval_does_not_take_another_revisions_rehearsal(workspace: Registered) -> None:
    actor = an_approver()
    rehearsal = approval.rehearse(workspace=SLUG, revision=workspace.head().commit, actor=actor)
    workspace.commit(changed())
    assert workspace.approve(actor).generation != rehearsal


@pytest.mark.django_db
def test_rehearsing_a_revision_twice_gives_the_same_candidate(workspace: Registered) -> None:
    actor = an_approver()
    head = workspace.head().commit
    first, second = (
        approval.rehearse(workspace=SLUG, revision=head, actor=actor) for _ in range(2)
    )
    assert first == second


@pytest.mark.django_db
def test_a_cancelled_approval_makes_room_for_another(workspace: Registered) -> None:
    actor = an_approver()
    approved = workspace.approve(actor)
    approval.cancel(workspace=SLUG, actor=actor, reason="Troppo presto")
    given = Approval.objects.get(pk=approved.approval)
    assert (given.state, given.outcome) == (ApprovalState.CANCELLED, "Troppo presto")
    assert Generation.objects.get(pk=approved.generation).approval is None
    assert workspace.approve(actor).generation == approved.generation


@pytest.mark.django_db
def test_cancelling_an_approval_that_ended_leaves_the_one_opened_since(
    workspace: Registered,
) -> None:
    actor = an_approver()
    first = workspace.approve(actor)
    approval.cancel(workspace=SLUG, actor=actor, reason="Troppo presto")
    second = workspace.approve(actor)
    with pytest.raises(ApprovalClosed):
        approval.cancel(workspace=SLUG, actor=actor, reason="Di nuovo", only=first.approval)
    assert Approval.objects.get(pk=second.approval).state == ApprovalState.OPEN


@pytest.mark.django_db
def test_a_cancelled_ready_candidate_takes_the_place_of_an_older_rehearsal(
    workspace: Registered,
) -> None:
    actor, ready = an_approver(), GenerationState.READY
    older = approval.rehearse(workspace=SLUG, revision=workspace.head().commit, actor=actor)
    Generation.objects.filter(pk=older).update(state=ready)
    workspace.commit({"README.md": b"Altro"})
    newer = workspace.approve(actor).generation
    Generation.objects.filter(pk=newer).update(state=ready)
    approval.cancel(workspace=SLUG, actor=actor, reason="Troppo presto")
    states = dict(Generation.objects.values_list("pk", "state"))
    assert states == {older: GenerationState.DELETING, newer: ready}


@pytest.mark.django_db
def test_there_is_nothing_to_cancel_when_nothing_is_open(workspace: Registered) -> None:
    actor = an_approver()
    with pytest.raises(ApprovalClosed):
        approval.cancel(workspace=SLUG, actor=actor, reason="")


@pytest.mark.django_db
def test_an_approval_rolled_back_with_its_transaction_never_was(workspace: Registered) -> None:
    actor = an_approver()
    with transaction.atomic():
        workspace.approve(actor)
        transaction.set_rollback(True)
    assert not Approval.objects.exists()
    assert not Generation.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_four_simultaneous_approvals_one_wins_and_three_are_told_who(
    workspace: Registered,
) -> None:
    actors = [an_approver(f"approver-{number}") for number in range(4)]
    first = workspace.head()
    workspace.commit(changed())
    second = workspace.head()
    barrier = Barrier(4)
    won, refused = list[Approved](), list[Fault]()

    def decide(number: int) -> None:
        barrier.wait()
        try:
            won.append(workspace.approve(actors[number], (first, second)[number % 2]))
        except Fault as fault:
            refused.append(fault)
        finally:
            connection.close()

    threads = [Thread(target=decide, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    winner = Approval.objects.get(state=ApprovalState.OPEN)
    assert [fault.code for fault in refused] == ["approval_open"] * 3
    assert {fault.message.values["user"] for fault in refused} == {winner.approved_by}
    assert Generation.objects.get().pk == won[0].generation
