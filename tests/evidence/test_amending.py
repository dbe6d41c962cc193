"""A proposal is changed before it is decided on: units edited, taken out, put back."""

from __future__ import annotations

import pytest

from evidence import amending, conf, overview, plugged, proposals, proposed
from evidence.amending import EditRefused
from evidence.curation import MisplacedUnit, StaleEdit
from evidence.domain.manifest import parse_manifest
from evidence.domain.partial import UnitNotNew, UnitNotProposed
from evidence.domain.units import UnitInvalid
from evidence.faults import CuratorFault
from evidence.models import PortalCommit, PreparationRun, UnitRecord, Workspace
from evidence.run_transitions import ProposalClosed
from tests.evidence.amendable import (
    EDITOR,
    NOTE,
    PATH,
    UNIT,
    a_proposal,
    on_branch,
    push,
    run,
    stored,
    workspace,
)
from tests.makers import CURATOR, git

__all__ = ("run", "workspace")
pytestmark = pytest.mark.django_db

SAID = "dimissione con assistenza a casa"
BETTER = "dimissione a casa, con assistenza domiciliare"


def edit(run: PreparationRun, before: str, after: str, *, blob: str = "") -> str:
    text, now = stored(run)
    assert before in text
    changed = text.replace(before, after)
    return amending.edit_unit(
        run=run, evidence_id=UNIT, text=changed, blob=blob or now, author=EDITOR
    )


def definition(after: str) -> tuple[str, str]:
    return f"definition: {SAID}", f"definition: {after}"


def test_an_edit_is_a_commit_of_the_person_on_the_proposal_alone(
    run: PreparationRun, workspace: Workspace
) -> None:
    repository = plugged.repository(workspace.slug)
    head, computed = repository.head("main"), run.proposal_commit
    made = edit(run, *definition(BETTER))
    run.refresh_from_db()
    assert (run.proposal_commit, repository.head(run.branch)) == (made, made)
    (commit,) = repository.between(computed, made)
    assert (commit.author.name, commit.author.email) == ("Grace Hopper", "grace@example.org")
    assert "Portal-Action: edit-proposal" in commit.message
    assert f"Evidence-Id: {UNIT}" in commit.message
    assert repository.head("main") == head
    assert not UnitRecord.objects.exists()


def test_what_is_accepted_is_the_edited_unit_under_a_manifest_that_is_true(
    run: PreparationRun, workspace: Workspace
) -> None:
    edit(run, *definition(BETTER))
    proposals.accept(run=run, author=CURATOR)
    assert BETTER in on_branch(workspace)
    manifest = parse_manifest(on_branch(workspace, "manifest.yaml"))
    assert manifest.owners()[UNIT] == "source/dimissioni.md"
    assert overview.workspace(workspace.slug).errors == 1, "the exam alone is missing"


def test_who_edited_a_proposal_is_a_co_author_of_what_is_accepted(
    run: PreparationRun, workspace: Workspace
) -> None:
    edit(run, *definition(BETTER))
    made = proposals.accept(run=run, author=CURATOR)
    log = git(conf.current().repository_path(workspace.slug), "log", "-1", "--format=%B", made)
    assert "Co-authored-by: Grace Hopper <grace@example.org>" in log
    assert PortalCommit.objects.get(commit=made).others == ["redattrice"]
    (author,) = [a for a in overview.authors_between("clinica", None, made) if a.commit == made]
    assert (author.username, author.editors) == ("curatrice", ("redattrice",))


def test_nobody_is_a_co_author_of_their_own_acceptance(run: PreparationRun) -> None:
    edit(run, *definition(BETTER))
    made = proposals.accept(run=run, author=EDITOR)
    assert PortalCommit.objects.get(commit=made).others == []


def test_a_doubt_is_settled_by_leaving_it_out(run: PreparationRun) -> None:
    text, _ = stored(run)
    head, _, rest = text.partition("review_items:\n")
    edit(run, text, head + rest[rest.index("---") :])
    assert "review_items" not in stored(run)[0]


def test_saving_what_is_there_makes_no_commit(run: PreparationRun) -> None:
    assert edit(run, SAID, SAID) == run.proposal_commit
    run.refresh_from_db()
    assert run.editors == []


BAD: dict[str, tuple[str, str, type[CuratorFault], str]] = {
    "not a unit": ("schema_version: 1", "schema_version: one", UnitInvalid, "unit_invalid"),
    "another id": (UNIT, "evidence:altra", MisplacedUnit, "unit_path_mismatch"),
    "another note": (
        "source/dimissioni.md",
        "source/altra.md",
        EditRefused,
        "provenance_changed",
    ),
    "another version of the note": (
        "source_sha256: sha256:",
        f"source_sha256: sha256:{'0' * 64} #",
        EditRefused,
        "provenance_changed",
    ),
    "words that the note does not hold": (
        "Dimissione protetta: dimissione con assistenza a casa.",
        "Dimissione protetta: come si vuole.",
        EditRefused,
        "excerpt_not_found",
    ),
    "a secret": (
        f"definition: {SAID}",
        "definition: postgres://utente:Segreta99x@db/clinica",
        EditRefused,
        "credential_detected",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_an_edit_that_breaks_a_rule_changes_nothing(run: PreparationRun, case: str) -> None:
    before, after, kind, code = BAD[case]
    was = stored(run)
    with pytest.raises(kind) as refused:
        edit(run, before, after)
    assert refused.value.code == code
    assert "Segreta99x" not in str(refused.value.message)
    assert stored(run) == was


def test_a_second_editor_of_the_same_unit_sees_three_versions(run: PreparationRun) -> None:
    text, blob = stored(run)
    edit(run, *definition(BETTER))
    ours = text.replace(*definition("dimissione, e basta"))
    with pytest.raises(StaleEdit) as stale:
        amending.edit_unit(run=run, evidence_id=UNIT, text=ours, blob=blob, author=CURATOR)
    assert stale.value.base == text.encode()
    assert BETTER in (stale.value.theirs or b"").decode()
    assert "e basta" in (stale.value.ours or b"").decode()
    assert BETTER in stored(run)[0]


def test_a_blob_that_never_was_is_a_stale_edit_and_no_crash(run: PreparationRun) -> None:
    with pytest.raises(StaleEdit) as stale:
        edit(run, *definition(BETTER), blob="0" * 40)
    assert stale.value.base is None


def test_two_people_who_wrote_the_same_agree(run: PreparationRun) -> None:
    _, blob = stored(run)
    first = edit(run, *definition(BETTER))
    assert edit(run, BETTER, BETTER, blob=blob) == first


def test_what_the_proposal_does_not_write_cannot_be_edited_in_it(run: PreparationRun) -> None:
    with pytest.raises(UnitNotProposed):
        amending.edit_unit(
            run=run, evidence_id="evidence:altra", text="", blob="0" * 40, author=EDITOR
        )


def test_a_unit_that_was_taken_out_is_edited_after_it_was_put_back(run: PreparationRun) -> None:
    text, blob = stored(run)
    amending.drop_unit(run=run, evidence_id=UNIT, reason=" Vaga. ")
    changed = text.replace(*definition(BETTER))
    with pytest.raises(UnitNotProposed):
        amending.edit_unit(run=run, evidence_id=UNIT, text=changed, blob=blob, author=EDITOR)
    amending.put_back(run=run, evidence_id=UNIT)
    amending.edit_unit(run=run, evidence_id=UNIT, text=changed, blob=blob, author=EDITOR)
    run.refresh_from_db()
    assert run.dropped == {}
    assert BETTER in stored(run)[0]


def test_only_what_was_taken_out_is_put_back(run: PreparationRun) -> None:
    with pytest.raises(amending.UnitNotDropped):
        amending.put_back(run=run, evidence_id=UNIT)


def test_an_edited_new_unit_can_still_be_taken_out(
    run: PreparationRun, workspace: Workspace
) -> None:
    edit(run, *definition(BETTER))
    amending.drop_unit(run=run, evidence_id=UNIT, reason="No.")
    proposals.accept(run=run, author=CURATOR)
    assert not UnitRecord.objects.filter(evidence_id=UNIT).exists()


def test_a_unit_that_was_there_before_is_never_taken_out(workspace: Workspace) -> None:
    proposals.accept(run=a_proposal(workspace), author=CURATOR)
    push(workspace, {"evidence/source/dimissioni.md": NOTE.replace("a casa", "altrove").encode()})
    run = a_proposal(workspace)
    with pytest.raises(UnitNotNew):
        amending.drop_unit(run=run, evidence_id=UNIT, reason="No.")


@pytest.mark.parametrize("end", ["accept", "discard"])
def test_a_closed_proposal_is_not_changed_any_more(run: PreparationRun, end: str) -> None:
    text, blob = stored(run)
    if end == "accept":
        proposals.accept(run=run, author=CURATOR)
    else:
        proposals.discard(run=run, author=CURATOR, reason="No.")
    with pytest.raises(ProposalClosed):
        amending.edit_unit(run=run, evidence_id=UNIT, text=text, blob=blob, author=EDITOR)
    with pytest.raises(ProposalClosed):
        amending.drop_unit(run=run, evidence_id=UNIT, reason="No.")
    with pytest.raises(ProposalClosed):
        amending.put_back(run=run, evidence_id=UNIT)


def test_others_do_not_overlap_with_a_unit_that_was_taken_out(
    run: PreparationRun, workspace: Workspace
) -> None:
    repository = plugged.repository(workspace.slug)
    push(workspace, {f"evidence/{PATH}": b"di altri"})
    moved = proposed.moved_since(repository, run)
    assert moved is not None
    assert moved.overlaps == (PATH,)
    amending.drop_unit(run=run, evidence_id=UNIT, reason="No.")
    run.refresh_from_db()
    still = proposed.moved_since(repository, run)
    assert still is not None
    assert still.overlaps == ()
    proposals.accept(run=run, author=CURATOR)
