"""The home page: real numbers, one next step, and nothing that somebody may not see."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evidence import conf, mirror, runs
from evidence.domain.runs import RunState
from evidence.models import PreparationRun, Workspace
from tests.makers import a_corpus, a_unit, a_workspace, put, sentence, unit_file

pytestmark = pytest.mark.django_db


def signed_in(group: str, language: str = "en") -> Client:
    user, _made = User.objects.get_or_create(username=group.lower(), defaults={"is_staff": True})
    user.groups.add(Group.objects.get(name=group))
    client = Client(headers={"accept-language": language})
    client.force_login(user)
    return client


@pytest.fixture
def workspace(portal_home: Path) -> Workspace:
    made = a_workspace(a_corpus(2))
    mirror.sync_workspace(made.slug)
    return made


def push(workspace: Workspace, **files: str | None) -> None:
    changes = {
        f"evidence/{path}": None if text is None else text.encode() for path, text in files.items()
    }
    put(conf.current().repository_path(workspace.slug), changes)
    mirror.sync_workspace(workspace.slug)


def with_doubt() -> bytes:
    items = [{"code": "kind_inferred", "message": "Is it right?"}]
    unit = a_unit(
        "evidence:regola-0", source="source/nota-0.md", text=sentence(0), review_items=items
    )
    return unit_file(unit)[1]


def home(client: Client) -> str:
    page = client.get("/admin/")
    assert page.status_code == 200
    return page.content.decode()


def numbers(client: Client) -> dict[str, int]:
    card = client.get("/admin/").context["cards"][0]
    return {number.words: number.count for number in card.knowledge}


def step(client: Client) -> str:
    return str(client.get("/admin/").context["cards"][0].next_step.words)


def test_without_workspaces_the_page_says_how_to_register_one(db: None) -> None:
    assert "tht workspace add" in home(signed_in("Readers"))


def test_a_publishable_revision_is_the_next_step(workspace: Workspace) -> None:
    assert "An approver has to release it." in home(signed_in("Curators"))
    assert "Look and approve" in home(signed_in("Approvers"))


def test_a_waiting_note_is_the_next_step_with_a_button_for_curators(workspace: Workspace) -> None:
    push(workspace, **{"source/nuova.md": "Una nota nuova.\n"})
    curator, reader = signed_in("Curators"), signed_in("Readers")
    assert step(curator) == "1 note waits to be prepared."
    assert numbers(curator)["new note"] == 1
    assert 'action="/admin/evidence/workspace/prepare/clinica/"' in home(curator)
    assert 'action="/admin/evidence/workspace/prepare/clinica/"' not in home(reader)


def test_a_proposal_comes_before_everything_else(workspace: Workspace) -> None:
    push(workspace, **{"source/nuova.md": "Una nota nuova.\n"})
    run = runs.start_preparation(workspace=workspace.slug, requested_by="x", restructurer="rules")
    curator = signed_in("Curators")
    assert step(curator) == "Notes are being prepared."
    assert f"/admin/evidence/preparationrun/{run.pk}/progress/" in home(curator)
    PreparationRun.objects.filter(pk=run.pk).update(state=RunState.PROPOSED)
    assert step(curator) == "A proposal waits for your decision."


def test_what_blocks_is_named_before_publication(workspace: Workspace) -> None:
    curator = signed_in("Curators")
    unit = "curated/glossary/regola-0.md"
    push(workspace, **{unit: with_doubt().decode()})
    assert step(curator) == "1 review item is open before this revision can be published."
    assert numbers(curator)["open review item"] == 1
    push(workspace, **{unit: "---\nkind: [glossary\n---\n"})
    assert step(curator) == "1 file cannot be read."
    assert numbers(curator)["unreadable unit"] == 1


def test_every_number_leads_to_that_many_rows(workspace: Workspace) -> None:
    curator = signed_in("Curators")
    push(
        workspace,
        **{
            "source/nuova.md": "Una nota nuova.\n",
            "source/nota-1.md": "Tutt'altro.\n",
            "curated/glossary/regola-0.md": with_doubt().decode(),
        },
    )
    card = curator.get("/admin/").context["cards"][0]
    assert any(number.count for number in card.knowledge)
    for number in card.knowledge:
        rows = curator.get(number.link).context["cl"].result_count
        assert rows == number.count, number.words


def test_the_page_speaks_italian(workspace: Workspace) -> None:
    page = home(signed_in("Curators", "it"))
    assert "Prossimo passo" in page
    assert "Deve pubblicarla un approvatore." in page


def test_a_large_workspace_costs_no_more_queries_than_a_small_one(portal_home: Path) -> None:
    made = a_workspace(a_corpus(10))
    mirror.sync_workspace(made.slug)
    reader = signed_in("Readers")
    home(reader)
    counts = []
    for size in (10, 200):
        put(conf.current().repository_path(made.slug), a_corpus(size))
        mirror.sync_workspace(made.slug)
        with CaptureQueriesContext(connection) as queries:
            home(reader)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_twelve_workspaces_cost_as_many_queries_as_two(portal_home: Path) -> None:
    reader = signed_in("Readers")
    home(reader)
    counts = []
    for first, last in ((0, 2), (2, 12)):
        for number in range(first, last):
            slug = f"reparto-{number}"
            mirror.sync_workspace(a_workspace(a_corpus(1, slug=slug), slug=slug).slug)
        with CaptureQueriesContext(connection) as queries:
            page = home(reader)
        assert page.count('role="region"') == last
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_groups_hold_what_the_specification_says(db: None) -> None:
    held = {
        group.name: set(group.permissions.values_list("codename", flat=True))
        for group in Group.objects.all()
    }
    assert {"Readers", "Curators", "Approvers", "Operators"} <= set(held)
    assert held["Readers"] < held["Curators"] < held["Approvers"]
    assert held["Readers"] < held["Operators"]
    assert "curate_workspace" in held["Curators"]
    assert "approve_revision" not in held["Operators"] | held["Curators"]
    assert not [name for name in held["Readers"] if not name.startswith("view_")]


def test_people_and_groups_have_their_pages(db: None) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("owner"))
    for place in ("/admin/auth/user/", "/admin/auth/user/add/", "/admin/auth/group/"):
        assert client.get(place).status_code == 200


def test_the_sign_in_page_needs_nothing_from_elsewhere(client: Client) -> None:
    page = client.get("/admin/login/")
    assert page.status_code == 200
    text = page.content.decode()
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
