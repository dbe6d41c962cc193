"""Where a unit is used: the exam's questions and the sessions that were told it (spec 40)."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evidence import conf, mirror, plugged
from evidence.domain.questions import parse_evaluation
from evidence.models import UnitRecord
from search_api import receipts
from search_api.session_schemas import Receipt
from search_api.usage import ReceiptUsage
from tests.makers import a_workspace, an_evaluation, put

pytestmark = pytest.mark.django_db

SLUG = "clinica"


@pytest.fixture
def unit(portal_home) -> UnitRecord:
    """The one unit of a registered workspace."""
    a_workspace()
    mirror.sync_workspace(SLUG)
    return UnitRecord.objects.select_related("workspace").get()


def told(unit: UnitRecord, session: str, *, workspace: str = SLUG) -> None:
    receipt = Receipt.model_validate(
        {
            "stage": "cte",
            "purpose": "sql_generation",
            "vector_generation": uuid4(),
            "evidence_ids": (unit.evidence_id, "evidence:altra"),
        }
    )
    receipts.keep(
        workspace=workspace,
        session=session,
        receipt=receipt,
        owner="abcdefgh",
        now=timezone.now(),
    )


def page_of(unit: UnitRecord) -> str:
    return reverse("admin:evidence_unitrecord_change", args=[unit.pk])


def test_a_unit_s_page_counts_who_was_told_it_and_leads_to_them(unit, admin_client):
    for number in range(7):
        told(unit, f"s-{number}")
    told(unit, "s-6")
    a_workspace(slug="altra")
    told(unit, "elsewhere", workspace="altra")
    used = admin_client.get(page_of(unit)).context["used"].told
    assert used.count == 7
    assert [each.session for each in used.latest] == ["s-6", "s-5", "s-4", "s-3", "s-2"]
    listed = admin_client.get(used.link).content.decode()
    assert [name for name in range(7) if f"s-{name}" in listed] == list(range(7))
    assert "elsewhere" not in listed
    receipt = admin_client.get(used.latest[0].link).content.decode()
    assert unit.title in receipt
    assert "evidence:altra" in receipt


def test_a_unit_s_page_names_the_questions_that_expect_it(unit, admin_client):
    page = admin_client.get(page_of(unit))
    used = page.context["used"]
    exam = parse_evaluation(an_evaluation(unit.evidence_id).decode())
    assert used.questions == exam.queries
    assert used.question_count == len(exam.queries)
    assert "No session was told it so far." in page.content.decode()
    assert admin_client.get(used.told.exam_link).status_code == 200


def test_an_exam_that_cannot_be_read_is_said_in_its_place(unit, admin_client):
    path = conf.current().repository_path(SLUG)
    put(path, {"evidence/evaluation.yaml": b"queries: ["})
    mirror.sync_workspace(SLUG)
    used = admin_client.get(page_of(unit)).context["used"]
    assert "evaluation_invalid" in used.fault
    assert used.told.count == 0


def test_a_unit_that_no_question_expects_says_how_to_ask_one(unit, admin_client):
    UnitRecord.objects.update(evidence_id="evidence:nuova")
    page = admin_client.get(page_of(unit)).content.decode()
    assert "No question of the exam expects it yet." in page


def test_use_costs_as_many_queries_for_many_receipts(unit):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            ReceiptUsage().of_unit(SLUG, unit.evidence_id, most=5)
        return len(found)

    told(unit, "first")
    few = queries()
    for number in range(40):
        told(unit, f"s-{number}")
    assert queries() == few == 2


def test_without_a_search_api_the_page_leaves_sessions_out(unit, admin_client, monkeypatch):
    monkeypatch.setattr(plugged, "_usage", [])
    page = admin_client.get(page_of(unit)).content.decode()
    assert "Used in" in page
    assert "Sessions" not in page


@pytest.mark.parametrize("group", ["Readers", "Curators", "Approvers", "Operators"])
def test_every_group_reads_receipts_and_none_changes_them(unit, client, django_user_model, group):
    told(unit, "s-1")
    user = django_user_model.objects.create_user("persona", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client.force_login(user)
    link = ReceiptUsage().of_unit(SLUG, unit.evidence_id, most=1).latest[0].link
    assert client.get(link).status_code == 200
    assert client.post(link, {}).status_code == 405
