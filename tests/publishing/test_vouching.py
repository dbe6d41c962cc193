"""A commit by nobody the portal knows: an operator vouches, somebody else approves."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection

from evidence.faults import Fault
from evidence.ports import Actor, Author
from publishing import vouching
from publishing.approval import Approved
from publishing.four_eyes import AuthorMayNotApprove, AuthorUnknown, VoucherMayNotApprove
from publishing.models import PublicationEvent, Vouch
from publishing.permissions import NotPermitted
from publishing.vouching import NothingToVouch, VouchedBefore
from tests.publishing.making import SLUG, Registered, a_registered, an_approver

STRANGER = Author("Chi", "chi@example.org")
WHY = "È il consulente dell'ospedale: visto il suo badge."


@pytest.fixture
def workspace(portal_home: Path) -> Registered:
    """Give a workspace whose first commit Ada made, whom the portal knows."""
    get_user_model().objects.create_user("ada", email="ada@example.org")
    return a_registered(portal_home)


def an_operator(
    username: str = "operatrice", *, is_staff: bool = True, is_active: bool = True
) -> Actor:
    user = get_user_model().objects.create_user(
        username, email=f"{username}@example.org", is_staff=is_staff, is_active=is_active
    )
    user.groups.add(Group.objects.get(name="Operators"))
    return Actor(username=username, name="", email=user.email)


def a_stranger_commits(workspace: Registered) -> str:
    return workspace.commit({"evidence/README.md": b"Da fuori."}, author=STRANGER)


def vouch(commit: str, actor: Actor, reason: str = WHY) -> None:
    vouching.vouch(workspace=SLUG, commit=commit, actor=actor, reason=reason)


@pytest.mark.django_db
def test_a_commit_by_nobody_blocks_until_an_operator_vouches(workspace: Registered) -> None:
    commit, approver = a_stranger_commits(workspace), an_approver()
    with pytest.raises(AuthorUnknown) as refused:
        workspace.approve(approver)
    assert commit[:12] in str(refused.value.message)
    vouch(commit, an_operator(), f" {WHY} ")
    row = Vouch.objects.get()
    assert (row.workspace, row.commit, row.vouched_by) == (SLUG, commit, "operatrice")
    assert row.reason == WHY
    event = PublicationEvent.objects.get()
    assert (event.actor, event.to_state, event.at) == ("operatrice", "vouched", row.vouched_at)
    assert event.reason == f"{commit}: {WHY}"
    assert isinstance(workspace.approve(approver), Approved)


@pytest.mark.django_db
def test_each_such_commit_wants_a_word_of_its_own(workspace: Registered) -> None:
    first, operator = a_stranger_commits(workspace), an_operator()
    second = workspace.commit({"evidence/README.md": b"x"}, author=STRANGER)
    vouch(first, operator)
    with pytest.raises(AuthorUnknown) as refused:
        workspace.approve(an_approver())
    assert second[:12] in str(refused.value.message)


@pytest.mark.django_db
def test_who_vouched_may_not_approve_not_even_as_an_administrator(workspace: Registered) -> None:
    commit = a_stranger_commits(workspace)
    both = an_approver("capo", is_superuser=True)
    vouch(commit, both)
    with pytest.raises(VoucherMayNotApprove):
        workspace.approve(both)
    assert workspace.approve(an_approver()).approval


@pytest.mark.django_db
def test_a_word_does_not_let_the_author_approve_who_gets_the_address_later(
    workspace: Registered,
) -> None:
    vouch(a_stranger_commits(workspace), an_operator())
    author = an_approver("chi")
    with pytest.raises(AuthorMayNotApprove):
        workspace.approve(author)


@pytest.mark.django_db
def test_nobody_vouches_for_a_commit_whose_author_is_known_their_own_included(
    workspace: Registered,
) -> None:
    operator = an_operator()
    own = workspace.commit(
        {"evidence/README.md": b"x"}, author=Author("Io", "operatrice@example.org")
    )
    here = workspace.commit({"evidence/README.md": b"y"}, author=STRANGER)
    workspace.written_here(here, "ada")
    for commit in (own, here):
        with pytest.raises(NothingToVouch):
            vouch(commit, operator)
    assert not Vouch.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("commit", ["", "HEAD", "f" * 40, "--all", "\0"])
def test_what_no_release_holds_is_not_vouched_for(workspace: Registered, commit: str) -> None:
    a_stranger_commits(workspace)
    with pytest.raises(NothingToVouch):
        vouch(commit, an_operator())


@pytest.mark.django_db
@pytest.mark.parametrize("reason", ["", " \n "])
def test_a_word_without_a_reason_is_refused(workspace: Registered, reason: str) -> None:
    with pytest.raises(NothingToVouch):
        vouch(a_stranger_commits(workspace), an_operator(), reason)
    assert not Vouch.objects.exists()


@pytest.mark.django_db
def test_only_operators_who_still_work_here_vouch(workspace: Registered) -> None:
    commit = a_stranger_commits(workspace)
    nobody = Actor(username="nessuno", name="", email="")
    gone, outside = an_operator("ex", is_active=False), an_operator("fuori", is_staff=False)
    for actor in (an_approver(), nobody, gone, outside):
        with pytest.raises(NotPermitted) as refused:
            vouch(commit, actor)
        assert "Operators" in refused.value.hint
    assert not Vouch.objects.exists()


@pytest.mark.django_db
def test_a_second_word_is_told_whose_was_first_and_changes_nothing(workspace: Registered) -> None:
    commit = a_stranger_commits(workspace)
    vouch(commit, an_operator())
    with pytest.raises(VouchedBefore) as refused:
        vouch(commit, an_operator("altra"), "Anch'io.")
    assert refused.value.message.values["user"] == "operatrice"
    assert Vouch.objects.get().reason == WHY


@pytest.mark.django_db(transaction=True)
def test_of_four_at_once_one_word_stands(workspace: Registered) -> None:
    commit = a_stranger_commits(workspace)
    actors = [an_operator(f"operatore-{number}") for number in range(4)]
    barrier, refused = Barrier(4), list[Fault]()

    def decide(actor: Actor) -> None:
        barrier.wait()
        try:
            vouch(commit, actor)
        except Fault as fault:
            refused.append(fault)
        finally:
            connection.close()

    threads = [Thread(target=decide, args=(actor,)) for actor in actors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [fault.code for fault in refused] == ["vouched_before"] * 3
    first = Vouch.objects.get().vouched_by
    assert {fault.message.values["user"] for fault in refused} == {first}
