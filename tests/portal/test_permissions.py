"""Who may do what on the pages: every address of the admin, each group, nobody and a stranger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from evidence import mirror, plugged
from evidence.models import PreparationRun, Workspace
from publishing.models import Evaluation
from search_api import formula_proposals
from search_api.models import Gap
from search_api.session_schemas import ProposedFormula
from tests.makers import a_corpus, a_workspace
from tests.publishing.making import SLUG, a_candidate, an_open_approval, tree_of, workspace_files
from tests.search_api.test_sessions import FORMULA

OWN: Final = ("evidence", "publishing", "search_api")
NOBODY: Final = frozenset[str]()
READERS: Final = frozenset({"Readers", "Curators", "Approvers", "Operators"})
CURATORS: Final = frozenset({"Curators", "Approvers"})
APPROVERS: Final = frozenset({"Approvers"})
OPERATORS: Final = frozenset({"Operators"})
PEOPLE: Final = (*sorted(READERS), "staff", "anonymous")
DJANGOS: Final = ("changelist", "add", "history", "delete", "change")

STEPS: Final = {
    **{
        f"evidence_preparationrun_{step}": CURATORS
        for step in ("again", "confirm", "settle", "drop", "put_back", "accept", "discard")
    },
    **{
        f"evidence_unitrecord_{step}": CURATORS
        for step in ("settle", "retire", "relink", "check_sql", "preview")
    },
    "evidence_findingrecord_restore": CURATORS,
    "evidence_prepare": CURATORS,
    "evidence_workspace_sync": OPERATORS,
    "publishing_rehearse": APPROVERS,
    "publishing_vouch": OPERATORS,
    "publishing_approval_cancel": APPROVERS,
    "publishing_generation_roll_back": APPROVERS,
    **{f"search_api_gap_{step}": CURATORS for step in ("answer", "dismiss")},
    **{f"search_api_formulaproposal_{step}": CURATORS for step in ("draft", "dismiss")},
}
"""Addresses that answer posts alone, and who may send them."""
FORMS: Final = {
    "evidence_sourcerecord_write": (CURATORS, CURATORS),
    "evidence_preparationrun_edit": (CURATORS, CURATORS),
    "evidence_unitrecord_edit": (CURATORS, CURATORS),
    "evidence_findingrecord_dismiss": (READERS, CURATORS),
    "publishing_release": (READERS, APPROVERS),
    "publishing_console": (READERS, CURATORS),
    "search_api_apikey_add": (OPERATORS, OPERATORS),
}
"""Addresses of a form: who may see it, and who may send it."""
READ: Final = {
    "evidence_findingrecord_dismissed": READERS,
    "evidence_preparationrun_progress": READERS,
    "evidence_sourcereading_rates": READERS,
    "evidence_sourcerecord_download": READERS,
    **{f"evidence_unitrecord_{tool}": CURATORS for tool in ("fill_in", "names")},
    "publishing_question_set": READERS,
    "publishing_compare": READERS,
    "publishing_evaluation_export_csv": READERS,
    "publishing_evaluation_export_json": READERS,
    "publishing_generation_progress": READERS,
}
"""Addresses that change nothing, and who may ask them."""


def _named(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[tuple[str, str]]:
    for each in patterns:
        route = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _named(each.url_patterns, route)
        elif each.name and each.name.startswith(tuple(f"{label}_" for label in OWN)):
            yield each.name, route


def _admin() -> URLResolver:
    resolvers = (each for each in get_resolver().url_patterns if isinstance(each, URLResolver))
    return next(each for each in resolvers if each.namespace == "admin")


ROUTES: Final = dict(_named(_admin().url_patterns))
"""The name of each address below the admin that is ours, with its pattern."""
CUSTOM: Final = STEPS.keys() | FORMS.keys() | READ.keys()
LEADS_ON: Final = frozenset({"publishing_publicationevent_change"})
"""Pages of a row that only lead to another page, whatever is sent."""
ROW_WRITES: Final = sorted(
    name
    for name in ROUTES.keys() - CUSTOM
    if name.rpartition("_")[2] in {"add", "change", "delete"}
)


def test_every_address_of_ours_is_in_a_table() -> None:
    extra = {name for name in ROUTES if name.rpartition("_")[2] not in DJANGOS}
    assert extra - {"search_api_apikey_add"} == CUSTOM - {"search_api_apikey_add"}


@pytest.fixture
def rows(portal_home: Path, db: None) -> Workspace:
    """Give a workspace with a row behind each address that names one."""
    made = a_workspace(a_corpus(2))
    mirror.sync_workspace(made.slug)
    PreparationRun.objects.create(
        workspace=made, restructurer="rules", requested_by="x", state="failed"
    )
    generation = a_candidate(tree_of(workspace_files()))
    an_open_approval(generation)
    Evaluation.objects.create(
        workspace=SLUG,
        generation=generation,
        passed=True,
        hit_at_5=1,
        hit_at_10=1,
        question_count=1,
        report={"workspace_revision": generation.revision, "queries": []},
    )
    now = timezone.now()
    Gap.objects.create(
        workspace=SLUG,
        question_key="0" * 64,
        question="Che cos'è?",
        purpose="rewriting",
        first_asked_at=now,
        last_asked_at=now,
    )
    formula = ProposedFormula.model_validate(FORMULA)
    formula_proposals.propose(workspace=SLUG, session="s", formula=formula, owner="a", now=now)
    return made


@pytest.fixture
def clients(db: None) -> dict[str, Client]:
    """Give a client for somebody of each group, for staff without one, and for nobody."""
    made = {person: Client() for person in PEOPLE}
    for person in PEOPLE[:-1]:
        user = User.objects.create_user(f"una-{person.lower()}", is_staff=True)
        user.groups.set(Group.objects.filter(name=person))
        made[person].force_login(user)
    return made


def model_of(name: str) -> type[Model]:
    label = next(label for label in OWN if name.startswith(f"{label}_"))
    return apps.get_model(label, name.removeprefix(f"{label}_").partition("_")[0])


def at(name: str, *, is_missing: bool = False) -> str:
    """Give the address of the first row there is, or of one that is not there."""
    if "slug" in ROUTES[name]:
        return reverse(f"admin:{name}", args=["nessuna" if is_missing else SLUG])
    if "object_id" not in ROUTES[name]:
        return reverse(f"admin:{name}")
    row = None if is_missing else model_of(name)._default_manager.first()
    assert row or is_missing or name not in CUSTOM, f"the fixture has no row for {name}"
    return reverse(f"admin:{name}", args=[row.pk if row else UUID(int=0)])


def kept() -> dict[str, Any]:
    """Give every row of the portal's own, and where the branch stands."""
    models = [model for label in OWN for model in apps.get_app_config(label).get_models()]
    rows: dict[str, Any] = {
        model.__name__: list(model._default_manager.values()) for model in models
    }
    rows["log"] = list(LogEntry.objects.values())
    return rows | {"head": plugged.repository(SLUG).head("main")}


def is_refused(person: str, response: Any) -> bool:
    """Tell whether somebody was kept out: sent to sign in, or forbidden."""
    if person == "anonymous":
        return response.status_code == 302 and "/admin/login/" in response["Location"]
    return bool(response.status_code == 403)


def test_a_post_by_who_may_not_is_refused_and_changes_nothing(
    rows: Workspace, clients: dict[str, Client]
) -> None:
    allowed = STEPS | {name: may_send for name, (_see, may_send) in FORMS.items()} | READ
    before = kept()
    wrong = [
        (name, person, response.status_code)
        for name, who in sorted(allowed.items())
        for person in PEOPLE
        if person not in who
        and not is_refused(person, response := clients[person].post(at(name), {"save": "1"}))
    ]
    assert wrong == []
    assert kept() == before


def test_who_may_is_not_kept_out(rows: Workspace, clients: dict[str, Client]) -> None:
    # Rows that are not there: a step that is let through finds nothing to change.
    allowed = STEPS | {name: may_send for name, (_see, may_send) in FORMS.items()}
    wrong = [
        (name, person)
        for name, who in sorted(allowed.items())
        for person in who
        if is_refused(person, clients[person].post(at(name, is_missing=True)))
    ]
    assert wrong == []


@pytest.mark.parametrize("method", ["get", "head"])
def test_a_step_answers_posts_alone(
    rows: Workspace, clients: dict[str, Client], method: str
) -> None:
    before = kept()
    wrong = [
        (name, person, response.status_code)
        for name in sorted(STEPS)
        for person in PEOPLE
        if (response := getattr(clients[person], method)(at(name))).status_code != 405
        and not (person == "anonymous" and is_refused(person, response))
    ]
    assert wrong == []
    assert kept() == before


def test_a_page_is_seen_by_who_may_alone(rows: Workspace, clients: dict[str, Client]) -> None:
    seen = {name: may_see for name, (may_see, _send) in FORMS.items()} | READ
    before = kept()
    wrong = [
        (name, person, response.status_code)
        for name, who in sorted(seen.items())
        for person in PEOPLE
        if is_refused(person, response := clients[person].get(at(name))) == (person in who)
    ]
    assert wrong == []
    assert kept() == before


def test_no_row_is_added_changed_or_deleted_as_a_row(
    rows: Workspace, clients: dict[str, Client]
) -> None:
    owner = Client()
    owner.force_login(User.objects.create_superuser("owner"))
    before = kept()
    wrong = [
        (name, person, response.status_code)
        for name in ROW_WRITES
        for person, client in {**clients, "owner": owner}.items()
        if (response := client.post(at(name), {"post": "yes"})).status_code not in {403, 404, 405}
        and not (name in LEADS_ON and response.status_code == 302)
        and not (person == "anonymous" and is_refused(person, response))
    ]
    assert wrong == []
    assert kept() == before
