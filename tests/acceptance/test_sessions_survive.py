"""Receipts outlive the processes that wrote them: restarts and kills between a session's calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests import live
from tests.everything import postgresql
from tests.live import LivePortal

SESSION: Final = "/api/v1/workspaces/clinica-demo/sessions/domanda-1"
QUESTION: Final = "Come distinguo i pazienti pediatrici?"
FORMULA: Final = {
    "schema_version": 1,
    "stage": "final_sql",
    "concept": "Paziente pediatrico",
    "sql": "clinical.patient.age < 18",
    "columns": ["clinical.patient.age"],
    "rationale": "Lo ha detto l'utente.",
    "origin": "synthesized",
    "decision": "approved",
}


class Harness:
    """A program with a writer's key that works on one session, whatever becomes of the portal."""

    def __init__(self, portal: LivePortal) -> None:
        made = portal.tht_json("keys", "create", "--workspace", "clinica-demo", "--role", "writer")
        self.portal, self.key = portal, made["key"]

    def call(self, method: str, path: str, **more: Any) -> Any:
        signed = {"Authorization": f"Bearer {self.key}"}
        answer = httpx.request(
            method, self.portal.address + SESSION + path, headers=signed, timeout=30, **more
        )
        assert answer.is_success, answer.text
        return answer.json()

    def search(self, stage: str, purpose: str) -> dict[str, Any]:
        session = {"id": "domanda-1", "stage": stage}
        answer = self.portal.ask(QUESTION, key=self.key, purpose=purpose, session=session)
        assert answer.status_code == 200, answer.text
        receipt: dict[str, Any] = answer.json()["receipt"]
        return receipt

    def put(self, receipt: dict[str, Any]) -> None:
        assert self.call("PUT", f"/receipts/{receipt['stage']}", json=receipt) == receipt

    def receipts(self) -> Any:
        return self.call("GET", "/receipts")["receipts"]


def kill(portal: LivePortal) -> None:
    """End every process at once, as a machine without power does, and serve again."""
    for pid in portal.processes():
        live.end(pid)
    portal.restart()


@pytest.fixture(params=["sqlite", "postgresql"])
def portal(request: pytest.FixtureRequest, tmp_path: Path, demo_home: Path) -> Iterator[LivePortal]:
    """Serve the demo over each database."""
    home = tmp_path / "home"
    with ExitStack() as stack:
        settings = {}
        if request.param == "postgresql":
            settings["PORTAL_DATABASE_URL"] = stack.enter_context(postgresql())
            live.make_demo(home, **settings)
        else:
            live.copy_home(demo_home, home)
        yield stack.enter_context(live.serving(home, **settings))


def test_a_session_goes_on_where_it_was_after_restarts_and_kills(portal: LivePortal) -> None:
    harness = Harness(portal)
    first = harness.search("schema_linking", "schema_linking")
    portal.restart()
    assert harness.receipts() == [first]
    second = harness.search("cte", "sql_generation")
    kill(portal)
    assert harness.receipts() == [first, second]
    retried = second | {"evidence_ids": second["evidence_ids"][:1]}
    harness.put(retried)
    last = harness.search("final_sql", "sql_generation")
    harness.call("POST", "/formula-proposals", json=FORMULA)
    kill(portal)
    assert harness.receipts() == [first, retried, last]
    assert harness.call("DELETE", "/receipts?from=cte")["receipts"] == [first]
    portal.restart()
    assert harness.receipts() == [first]
    harness.put(second)
    assert harness.receipts() == [first, second]
