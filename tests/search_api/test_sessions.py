"""Sessions over HTTP: receipts per stage, a step back, formula proposals, and who may do what."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from publishing.domain.lifecycle import GenerationState
from publishing.models import Generation
from search_api import keys
from search_api.models import (
    ApiKey,
    FormulaProposal,
    HarnessSession,
    KeyRole,
    ProposalState,
    ReceiptRecord,
)
from search_api.stages import PURPOSES, Stage
from tests.search_api.conftest import GENERATION, QUESTION, SEARCH, SLUG

pytestmark = pytest.mark.django_db

SESSIONS = f"/api/v1/workspaces/{SLUG}/sessions"
FORMULA = {
    "schema_version": 1,
    "stage": "cte",
    "concept": "Paziente pediatrico",
    "sql": "clinical.patient.age < 18",
    "columns": ["clinical.patient.age"],
    "rationale": "Lo ha detto l'utente.",
    "origin": "synthesized",
    "decision": "approved",
}


def receipt(stage: str = "cte", **changes: object) -> dict[str, Any]:
    """Give the body of a receipt that is taken."""
    body = {
        "stage": stage,
        "purpose": PURPOSES[Stage(stage)].value,
        "vector_generation": str(GENERATION),
        "evidence_ids": ["evidence:fascia-pediatrica", "evidence:ablazione"],
    }
    return body | changes


class Caller:
    """A client with one key."""

    def __init__(self, token: str) -> None:
        self.headers = {"X-API-Key": token}

    def put(self, body: dict[str, Any], *, session: str = "s-1", stage: str | None = None) -> Any:
        stage = stage or body["stage"]
        path = f"{SESSIONS}/{session}/receipts/{stage}"
        return Client().put(path, body, content_type="application/json", headers=self.headers)

    def receipts(self, session: str = "s-1") -> Any:
        return Client().get(f"{SESSIONS}/{session}/receipts", headers=self.headers)

    def stages(self, session: str = "s-1") -> list[str]:
        return [each["stage"] for each in self.receipts(session).json()["receipts"]]

    def step_back(self, stage: str, session: str = "s-1") -> Any:
        path = f"{SESSIONS}/{session}/receipts?from={stage}"
        return Client().delete(path, headers=self.headers)

    def propose(self, body: dict[str, Any] | None = None, *, session: str = "s-1") -> Any:
        path = f"{SESSIONS}/{session}/formula-proposals"
        body = FORMULA if body is None else body
        return Client().post(path, body, content_type="application/json", headers=self.headers)

    def search(self, stage: str, session: str = "s-1", **more: object) -> Any:
        body = QUESTION | {"session": {"id": session, "stage": stage}} | more
        return Client().post(SEARCH, body, content_type="application/json", headers=self.headers)


@pytest.fixture
def writer(new_key) -> Caller:
    return Caller(new_key(role=KeyRole.WRITER))


@pytest.fixture
def reader(new_key) -> Caller:
    return Caller(new_key())


def code_of(response, status: int) -> str:
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    return str(response.json()["code"])


def test_a_receipt_is_kept_as_it_was_put_and_read_in_stage_order(published, writer, reader):
    for stage in ("final_sql", "clarification", "cte"):
        kept = writer.put(receipt(stage))
        assert (kept.status_code, kept.json()) == (200, receipt(stage))
    answer = reader.receipts().json()
    assert answer["session"] == "s-1"
    assert answer["receipts"] == [receipt(s) for s in ("clarification", "cte", "final_sql")]


def test_a_retry_replaces_the_receipt_of_its_stage_alone(published, writer):
    writer.put(receipt("cte"))
    writer.put(receipt("final_sql"))
    writer.put(receipt("cte", evidence_ids=[]))
    found = writer.receipts().json()["receipts"]
    assert found == [receipt("cte", evidence_ids=[]), receipt("final_sql")]


def test_a_step_back_forgets_that_stage_and_all_after_it(published, writer):
    for stage in Stage:
        writer.put(receipt(stage.value))
        writer.propose(FORMULA | {"stage": stage.value})
    left = writer.step_back("schema_linking")
    assert [each["stage"] for each in left.json()["receipts"]] == ["clarification", "rewriting"]
    assert writer.stages() == ["clarification", "rewriting"]
    kept = FormulaProposal.objects.order_by("pk").values_list("stage", flat=True)
    assert list(kept) == ["clarification", "rewriting"]
    assert writer.step_back("schema_linking").json() == left.json()


def test_a_step_back_keeps_what_an_expert_took_over_and_marks_it_withdrawn(published, writer):
    ids = [writer.propose().json()["id"] for _ in range(3)]
    FormulaProposal.objects.filter(pk=ids[0]).update(state=ProposalState.DRAFTED)
    FormulaProposal.objects.filter(pk=ids[1]).update(state=ProposalState.DISMISSED)
    writer.step_back("cte")
    (left,) = FormulaProposal.objects.all()
    assert left.pk == ids[0]
    withdrawn = left.withdrawn_at
    assert withdrawn is not None
    writer.step_back("cte")
    left.refresh_from_db()
    assert left.withdrawn_at == withdrawn


def test_a_session_that_nobody_wrote_is_empty_and_stepping_back_in_it_makes_none(published, writer):
    assert writer.receipts("new").json() == {"session": "new", "receipts": []}
    assert writer.step_back("cte", "new").json() == {"session": "new", "receipts": []}
    assert not HarnessSession.objects.exists()


def test_a_search_in_a_session_keeps_the_receipt_of_its_answer(published, writer):
    answer = writer.search("cte").json()
    assert answer["receipt"] == {
        "stage": "cte",
        "purpose": "sql_generation",
        "vector_generation": answer["generation"],
        "evidence_ids": [each["evidence_id"] for each in answer["results"]],
    }
    assert writer.receipts().json()["receipts"] == [answer["receipt"]]


def test_an_empty_answer_is_a_receipt_too(published, writer):
    context = {"required_tables": ["clinical.nothing"]}
    answer = writer.search("final_sql", context=context).json()
    assert answer["receipt"]["evidence_ids"] == []
    assert writer.stages() == ["final_sql"]


def test_an_unavailable_search_keeps_nothing_and_the_earlier_receipt_stays(published, writer):
    writer.put(receipt("cte"))
    response = writer.search("cte", workspace_revision="0" * 40)
    assert (response.status_code, response.json()["status"]) == (503, "unavailable")
    assert writer.receipts().json()["receipts"] == [receipt("cte")]


def test_the_purpose_of_a_search_must_be_its_stage_s(published, writer):
    for stage, purpose in PURPOSES.items():
        expected = 200 if purpose.value == QUESTION["purpose"] else 422
        response = writer.search(stage.value)
        assert response.status_code == expected
        if expected == 422:
            assert response.json()["code"] == "stage_purpose_mismatch"


@pytest.mark.parametrize("stage", ["memory", "synthesis"])
def test_a_stage_that_asks_for_no_evidence_is_refused_everywhere(published, writer, stage):
    body = receipt() | {"stage": stage}
    for response in (
        writer.search(stage),
        writer.put(body),
        writer.put(receipt(), stage=stage),
        writer.step_back(stage),
        writer.propose(FORMULA | {"stage": stage}),
    ):
        assert code_of(response, 422) == "stage_without_evidence"
    assert not HarnessSession.objects.exists()


def test_a_reader_reads_and_writes_nothing(published, writer, reader):
    writer.put(receipt())
    for response in (
        reader.put(receipt()),
        reader.step_back("cte"),
        reader.propose(),
        reader.search("cte"),
        reader.search("cte", "another"),
    ):
        assert code_of(response, 403) == "access_refused"
    assert reader.receipts().json()["receipts"] == [receipt()]
    assert HarnessSession.objects.count() == 1


def test_a_session_belongs_to_the_key_that_first_wrote_it(published, writer, new_key):
    writer.put(receipt())
    other = Caller(new_key(role=KeyRole.WRITER))
    for response in (
        other.put(receipt("final_sql")),
        other.step_back("cte"),
        other.propose(),
        other.search("cte"),
    ):
        assert code_of(response, 403) == "session_of_another_key"
    assert other.receipts().json()["receipts"] == [receipt()]
    assert not FormulaProposal.objects.exists()


def test_a_session_is_still_its_owner_s_after_everything_in_it_was_forgotten(
    published, writer, new_key
):
    writer.put(receipt())
    writer.step_back("clarification")
    other = Caller(new_key(role=KeyRole.WRITER))
    assert code_of(other.put(receipt()), 403) == "session_of_another_key"


def test_rotating_a_key_keeps_its_sessions_however_often(published, new_key):
    token = new_key(role=KeyRole.WRITER)
    Caller(token).put(receipt())
    for _ in range(3):
        token = keys.rotate(prefix=token.split("_")[1], now=timezone.now()).token
        assert Caller(token).put(receipt()).status_code == 200
    assert Caller(token).step_back("cte").status_code == 200


def test_one_name_in_two_workspaces_is_two_sessions(published, new_key):
    Caller(new_key(role=KeyRole.WRITER)).put(receipt())
    HarnessSession.objects.create(
        workspace="altra",
        name="s-1",
        owner="somebody",
        created_at=timezone.now(),
        written_at=timezone.now(),
    )
    assert HarnessSession.objects.filter(name="s-1").count() == 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"purpose": "rewriting"}, ""),
        ({"purpose": "approval"}, "purpose"),
        ({"stage": "review"}, "stage"),
        ({"vector_generation": "latest"}, "vector_generation"),
        ({"vector_generation": "\0"}, "vector_generation"),
        ({"evidence_ids": "evidence:ablazione"}, "evidence_ids"),
        ({"evidence_ids": ["ablazione"]}, "evidence_ids.0"),
        ({"evidence_ids": ["evidence:a\0"]}, "evidence_ids.0"),
        ({"evidence_ids": ["evidence:a\n"]}, "evidence_ids.0"),
        ({"evidence_ids": ["evidence:\ud800"]}, "evidence_ids.0"),
        ({"evidence_ids": ["evidence:" + "a" * 100_000]}, "evidence_ids.0"),
        ({"evidence_ids": ["evidence:ablazione"] * 2}, "evidence_ids"),
        ({"evidence_ids": [f"evidence:a{n}" for n in range(101)]}, "evidence_ids"),
        ({"text": "no text is copied"}, "text"),
    ],
)
def test_a_receipt_that_is_not_one_is_refused_by_field(published, writer, changes, field):
    response = writer.put(receipt() | changes, stage="cte")
    assert response.status_code == 422
    assert [each["field"] for each in response.json()["errors"]] == [field]
    assert not HarnessSession.objects.exists()


@pytest.mark.parametrize("missing", ["stage", "purpose", "vector_generation", "evidence_ids"])
def test_a_receipt_has_all_four_fields(published, writer, missing):
    body = receipt()
    del body[missing]
    assert code_of(writer.put(body, stage="cte"), 422) == "request_invalid"


def test_a_receipt_of_another_stage_than_its_address_is_refused(published, writer):
    assert code_of(writer.put(receipt("cte"), stage="final_sql"), 422) == "receipt_refused"


@pytest.mark.parametrize(
    "changes",
    [
        {"vector_generation": str(uuid4())},
        {"evidence_ids": ["evidence:mai-esistita"]},
        {"evidence_ids": ["evidence:ablazione", "evidence:mai-esistita"]},
    ],
)
def test_what_the_workspace_never_had_is_no_receipt(published, writer, changes):
    writer.put(receipt())
    assert code_of(writer.put(receipt(**changes)), 422) == "receipt_refused"
    assert writer.receipts().json()["receipts"] == [receipt()]


def test_a_generation_of_another_workspace_is_none_of_this_one(published, writer):
    other = Generation.objects.create(
        workspace="altra", revision="0" * 40, state=GenerationState.ACTIVE, language="it"
    )
    body = receipt(vector_generation=str(other.pk))
    assert code_of(writer.put(body), 422) == "receipt_refused"


def test_a_generation_that_was_deleted_was_once_there(published, writer):
    Generation.objects.update(state=GenerationState.DELETED)
    assert writer.put(receipt()).status_code == 200


@pytest.mark.parametrize("session", ["a b", "%00", "s%0A", "è", "a,b", "x" * 101, "%ED%A0%80"])
def test_a_session_id_that_is_none_is_refused(published, writer, session):
    for response in (
        writer.put(receipt(), session=session),
        writer.receipts(session),
        writer.step_back("cte", session),
        writer.propose(session=session),
    ):
        assert response.status_code in {404, 422}
        assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("session", ["a", "A.b_c:d-9", "x" * 100])
def test_a_session_id_of_the_allowed_letters_is_taken(published, writer, session):
    assert writer.put(receipt(), session=session).status_code == 200
    assert writer.stages(session) == ["cte"]


def test_a_proposed_formula_is_kept_word_for_word_and_no_search_finds_it(published, writer, ask):
    before = ask().content
    kept = writer.propose()
    assert kept.status_code == 201
    assert kept.json()["formula"] == FORMULA
    row = FormulaProposal.objects.get(pk=kept.json()["id"])
    assert (row.sql, row.columns, row.state) == (FORMULA["sql"], FORMULA["columns"], "open")
    assert ask().content == before


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"schema_version": "1"}, "schema_version"),
        ({"schema_version": True}, "schema_version"),
        ({"stage": "review"}, "stage"),
        ({"concept": " "}, "concept"),
        ({"concept": "x" * 201}, "concept"),
        ({"concept": "a\0"}, "concept"),
        ({"concept": "a\ud800"}, "concept"),
        ({"sql": "x" * 100_000}, "sql"),
        ({"columns": "clinical.patient.age"}, "columns"),
        ({"columns": ["age"]}, "columns.0"),
        ({"columns": ["clinical.patient.age\0"]}, "columns.0"),
        ({"columns": ["clinical.patient.age"] * 2}, "columns"),
        ({"rationale": "\ud800"}, "rationale"),
        ({"rationale": "x" * 100_000}, "rationale"),
        ({"origin": "guessed"}, "origin"),
        ({"decision": "maybe"}, "decision"),
        ({"limitations": "none"}, "limitations"),
    ],
)
def test_a_proposal_that_is_none_is_refused_by_field(published, writer, changes, field):
    response = writer.propose(FORMULA | changes)
    assert code_of(response, 422) == "request_invalid"
    assert [each["field"] for each in response.json()["errors"]] == [field]
    assert not FormulaProposal.objects.exists()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "age < ",
        "1; DROP TABLE x",
        "clinical.patient.height > 3",
        "(" * 200 + "1" + ")" * 200,
        "a AS b",
    ],
)
def test_a_proposal_that_is_no_formula_is_refused_by_its_code(published, writer, sql):
    assert code_of(writer.propose(FORMULA | {"sql": sql}), 422) == "formula_refused"
    assert not HarnessSession.objects.exists()


@pytest.mark.parametrize("missing", sorted(FORMULA))
def test_a_proposal_has_exactly_its_fields(published, writer, missing):
    body = {name: value for name, value in FORMULA.items() if name != missing}
    assert code_of(writer.propose(body), 422) == "request_invalid"


def test_a_session_holds_a_bounded_number_of_proposals(published, writer, monkeypatch):
    monkeypatch.setattr("search_api.formula_proposals.MAX_A_SESSION", 2)
    assert [writer.propose().status_code for _ in range(3)] == [201, 201, 409]
    writer.step_back("cte")
    assert writer.propose().status_code == 201


def test_an_expired_key_writes_nothing(published, new_key):
    token = new_key(role=KeyRole.WRITER)
    later = timezone.now() - timedelta(seconds=1)
    ApiKey.objects.update(expires_at=later)
    assert code_of(Caller(token).put(receipt()), 401) == "key_unknown"
    assert not ReceiptRecord.objects.exists()
