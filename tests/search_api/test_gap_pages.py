"""Gaps and proposed formulas where experts see them: each becomes knowledge, or is set aside."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evidence import curation, mirror, plugged
from evidence.domain import drafting as pure_drafting
from evidence.domain.drafting import FormulaDraft
from evidence.domain.units import EvidencePurpose
from evidence.models import ReviewItemRecord, UnitRecord, WorkspaceUnknown
from evidence.ports import Actor
from evidence.reading import read_directory, read_revision, validate_workspace_evidence
from search_api import formula_proposals, receipts, taking_over
from search_api.models import FormulaProposal, Gap, GapState, ProposalState
from search_api.session_schemas import ProposedFormula, Receipt
from search_api.stages import Stage
from tests.makers import a_workspace
from tests.search_api.conftest import DEMO
from tests.search_api.test_sessions import FORMULA

pytestmark = pytest.mark.django_db

RECEIPT = Receipt(
    stage=Stage.CTE,
    purpose=EvidencePurpose.SQL_GENERATION,
    vector_generation=UUID(int=1),
    evidence_ids=("evidence:regola-0",),
)
ANNA = Actor(username="anna", name="Anna", email="anna@example.org")
SLUG = "clinica"


@pytest.fixture
def workspace(portal_home):
    """A registered workspace with one unit, mirrored."""
    row = a_workspace()
    mirror.sync_workspace(SLUG)
    return row


@pytest.fixture
def proposal(workspace) -> FormulaProposal:
    kept = formula_proposals.propose(
        workspace=SLUG,
        session="s-1",
        formula=ProposedFormula.model_validate(FORMULA),
        owner="abcdefgh",
        now=timezone.now(),
    )
    return FormulaProposal.objects.get(pk=kept.id)


@pytest.fixture
def gap(workspace) -> Gap:
    now = timezone.now()
    return Gap.objects.create(
        workspace=SLUG,
        question_key="0" * 64,
        question="Che cos'è il <b>DRG</b> 123?",
        purpose="rewriting",
        first_asked_at=now,
        last_asked_at=now,
    )


def step(name: str, row) -> str:
    return reverse(f"admin:search_api_{type(row).__name__.lower()}_{name}", args=[row.pk])


def step_back(stage: Stage) -> None:
    receipts.step_back(
        workspace=SLUG, session="s-1", stage=stage, owner="abcdefgh", now=timezone.now()
    )


def test_a_draft_is_a_unit_with_its_note_its_listing_and_an_open_item(proposal, admin_client):
    page = admin_client.post(step("draft", proposal), follow=True)
    assert "A draft unit is made" in page.content.decode()
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.DRAFTED
    unit = UnitRecord.objects.get(evidence_id=proposal.evidence_id)
    assert (unit.kind, unit.title, unit.is_orphan) == ("formula", FORMULA["concept"], False)
    assert unit.source_file == "source/proposals/paziente-pediatrico.md"
    assert ReviewItemRecord.objects.get(unit=unit).code == pure_drafting.UNDECIDED


def test_a_draft_is_one_commit_that_validates_but_for_its_open_item(proposal, workspace):
    repository = plugged.repository(SLUG)
    before = repository.head("main")
    drafted = taking_over.draft(proposal=proposal, author=ANNA, now=timezone.now())
    assert [each.id for each in repository.history(drafted.commit, after=before)] == [
        drafted.commit
    ]
    report = validate_workspace_evidence(read_revision(repository, drafted.commit))
    assert report.errors == 0
    assert not report.publishable


def test_two_experts_make_one_unit(proposal):
    first = taking_over.draft(proposal=proposal, author=ANNA, now=timezone.now())
    with pytest.raises(taking_over.ProposalDecided):
        taking_over.draft(proposal=proposal, author=ANNA, now=timezone.now())
    assert UnitRecord.objects.filter(evidence_id=first.evidence_id).count() == 1


def test_a_refused_draft_is_given_back(proposal, workspace):
    stale = FormulaProposal.objects.get(pk=proposal.pk)
    stale.workspace = "gone"
    with pytest.raises(WorkspaceUnknown):
        taking_over.draft(proposal=stale, author=ANNA, now=timezone.now())
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by) == (ProposalState.OPEN, "")


def test_a_draft_that_died_may_be_made_again_after_a_while(proposal):
    now = timezone.now()
    FormulaProposal.objects.update(state=ProposalState.DRAFTING, decided_at=now)
    with pytest.raises(taking_over.ProposalDecided):
        taking_over.draft(proposal=proposal, author=ANNA, now=now)
    later = now + taking_over.ABANDONED_AFTER + timedelta(seconds=1)
    assert taking_over.draft(proposal=proposal, author=ANNA, now=later).evidence_id


def test_what_was_drafted_stays_when_its_session_steps_back(proposal, admin_client):
    admin_client.post(step("draft", proposal))
    step_back(Stage.CTE)
    proposal.refresh_from_db()
    assert proposal.withdrawn_at is not None
    page = admin_client.get(reverse("admin:search_api_formulaproposal_change", args=[proposal.pk]))
    assert "withdrawn by its session" in page.content.decode()


def test_a_dismissal_needs_a_reason_and_is_forgotten_by_a_step_back(proposal, admin_client):
    admin_client.post(step("dismiss", proposal), {"reason": " "})
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.OPEN
    admin_client.post(step("dismiss", proposal), {"reason": "La soglia è 16."})
    proposal.refresh_from_db()
    assert (proposal.state, proposal.reason) == (ProposalState.DISMISSED, "La soglia è 16.")
    step_back(Stage.CTE)
    assert not FormulaProposal.objects.exists()


def test_a_second_formula_of_one_name_gets_an_id_and_a_note_of_its_own(proposal, workspace):
    taking_over.draft(proposal=proposal, author=ANNA, now=timezone.now())
    again = formula_proposals.propose(
        workspace=SLUG,
        session="s-2",
        formula=ProposedFormula.model_validate(FORMULA),
        owner="abcdefgh",
        now=timezone.now(),
    )
    row = FormulaProposal.objects.get(pk=again.id)
    second = taking_over.draft(proposal=row, author=ANNA, now=timezone.now())
    assert second.evidence_id == "evidence:paziente-pediatrico-2"
    assert second.source == "source/proposals/paziente-pediatrico-2.md"


def test_a_long_formula_is_quoted_by_its_first_lines():
    lines = "\n".join(f"clinical.patient.c{n} = {n} AND" for n in range(60)) + "\n1 = 1"
    columns = tuple(f"clinical.patient.c{n}" for n in range(60))
    draft = pure_drafting.draft_formula(
        read_directory(DEMO), FormulaDraft("Lunga", lines, columns, "")
    )
    (excerpt,) = draft.unit.provenance.supporting_excerpts
    assert len(excerpt) <= 1_000
    assert lines.startswith(excerpt + "\n")


def test_a_gap_becomes_a_note_with_one_click(gap, admin_client):
    page = admin_client.get(reverse("admin:search_api_gap_change", args=[gap.pk]))
    shown = page.content.decode()
    assert "<b>DRG</b>" not in shown
    form = page.context["form"]
    admin_client.post(step("answer", gap), form.initial | {"text": form.initial["text"] + "È…"})
    gap.refresh_from_db()
    assert (gap.state, gap.decided_by) == (GapState.NOTED, "admin")
    assert gap.note_path.startswith("source/gaps/che-cos-e-il-b-drg")


def test_a_note_that_is_refused_keeps_what_was_typed(gap, admin_client):
    curation.add_source(workspace=SLUG, name="gaps/nota.md", text="Già qui.", author=ANNA)
    page = admin_client.post(step("answer", gap), {"name": "gaps/nota.md", "text": "La risposta."})
    assert page.status_code == 200
    assert "La risposta." in page.content.decode()
    gap.refresh_from_db()
    assert gap.state == GapState.OPEN


def test_a_gap_is_set_aside(gap, admin_client):
    admin_client.post(step("dismiss", gap))
    gap.refresh_from_db()
    assert gap.state == GapState.DISMISSED


def test_readers_see_and_change_nothing(gap, proposal, client, django_user_model):
    user = django_user_model.objects.create_user("lettrice", is_staff=True)
    user.groups.add(Group.objects.get(name="Readers"))
    client.force_login(user)
    for row in (gap, proposal):
        name = type(row).__name__.lower()
        assert client.get(reverse(f"admin:search_api_{name}_changelist")).status_code == 200
        page = reverse(f"admin:search_api_{name}_change", args=[row.pk])
        assert client.get(page).status_code == 200
        assert client.post(step("dismiss", row), {"reason": "x"}).status_code == 403
    assert client.post(step("draft", proposal)).status_code == 403
    assert client.post(step("answer", gap), {"name": "a.md", "text": "a"}).status_code == 403
    assert client.get(step("draft", proposal)).status_code == 405


def fill(count: int) -> None:
    """Let there be this many sessions, each with a receipt and a proposal, and as many gaps."""
    now = timezone.now()
    formula = ProposedFormula.model_validate(FORMULA)
    for number in range(Gap.objects.count(), count):
        session = f"fill-{number}"
        formula_proposals.propose(
            workspace=SLUG, session=session, owner="abcdefgh", formula=formula, now=now
        )
        receipts.keep(workspace=SLUG, session=session, owner="abcdefgh", receipt=RECEIPT, now=now)
        Gap.objects.create(
            workspace=SLUG,
            question_key=f"{number:064}",
            question=f"Che cos'è il DRG {number}?",
            purpose="rewriting",
            first_asked_at=now,
            last_asked_at=now,
        )


@pytest.mark.parametrize("model", ["gap", "formulaproposal", "receiptrecord"])
def test_lists_ask_as_many_queries_for_many_rows(workspace, admin_client, model):
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            admin_client.get(reverse(f"admin:search_api_{model}_changelist"))
        return len(asked)

    fill(10)
    queries()  # The first request of a session may ask for more.
    few = queries()
    fill(40)
    assert queries() == few


def test_the_home_page_counts_the_questions_of_this_week_and_leads_to_them(gap, admin_client):
    home = admin_client.get(reverse("admin:index"))
    (number,) = (each for each in home.context["cards"][0].knowledge if "asked=week" in each.link)
    assert number.count == 1
    assert "DRG" in admin_client.get(number.link).content.decode()
    Gap.objects.update(last_asked_at=timezone.now() - timedelta(days=8))
    assert "DRG" not in admin_client.get(number.link).content.decode()
