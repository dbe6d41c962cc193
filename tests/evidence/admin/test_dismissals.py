"""A warning about two units is looked at, dismissed and brought back on the pages."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evidence import conf, mirror
from evidence.domain.units import CuratedEvidence
from evidence.models import FindingRecord, UnitRecord, Workspace
from tests.makers import a_corpus, a_unit, a_workspace, git, put, unit_file

pytestmark = pytest.mark.django_db

FIRST, SECOND, THIRD = (f"curated/glossary/{name}.md" for name in ("a", "b", "c"))
LIST = "/admin/evidence/findingrecord/"
COMPARE, RESTORE, DISMISSED = (f"{LIST}{name}/" for name in ("dismiss", "restore", "dismissed"))


def a_term(name: str, definition: str) -> CuratedEvidence:
    return a_unit(
        f"evidence:{name}",
        source="source/nota-0.md",
        text="La regola 0 vale per i pediatrici.\n",
        payload={"term": "età", "definition": definition},
    )


def disagreeing(slug: str, *names: str) -> Workspace:
    """Give a workspace in which these units explain one term differently."""
    units = [a_term(name, f"Significato {name}.") for name in names]
    files = {f"evidence/{path}": data for path, data in map(unit_file, units)}
    made = a_workspace(a_corpus(1, slug=slug) | files, slug=slug)
    mirror.sync_workspace(made.slug)
    return Workspace.named(made.slug)


@pytest.fixture
def workspace(portal_home: Path, db: None) -> Workspace:
    return disagreeing("clinica", "a", "b", "c")


def finding(path: str = FIRST, slug: str = "clinica") -> FindingRecord:
    return FindingRecord.objects.get(workspace__slug=slug, code="conflicting_term", path=path)


Asked = dict[str, str | list[str]]


def posted(*pairs: tuple[str, str], slug: str = "clinica", code: str = "conflicting_term") -> Asked:
    return {
        "workspace": slug,
        "code": [code for _ in pairs],
        "path": [path for path, _ in pairs],
        "other": [other for _, other in pairs],
    }


def ticked(*rows: FindingRecord, **more: str) -> dict[str, object]:
    return {"action": "dismiss_selected", "_selected_action": [row.pk for row in rows], **more}


def head(slug: str = "clinica") -> str:
    return git(conf.current().repository_path(slug), "rev-parse", "main")


def test_a_finding_leads_to_both_units_side_by_side(reader: Client, workspace: Workspace):
    place = reader.get(f"{LIST}{finding().pk}/change/")
    assert place.status_code == 302
    asked = parse_qs(urlsplit(place["location"]).query)
    assert (asked["path"], asked["other"]) == ([FIRST], [SECOND])
    page = reader.get(place["location"]).content.decode()
    assert "Two explanations of one term disagree" in page
    assert "Significato a." in page
    assert "Significato b." in page
    assert "dismiss the warning" not in page, "a reader only looks"


def test_a_curator_dismisses_a_warning_with_one_press(curator: Client, workspace: Workspace):
    before = head()
    page = curator.get(f"{LIST}{finding().pk}/change/", follow=True).content.decode()
    assert "Both may stay: dismiss the warning" in page
    done = curator.post(COMPARE, posted((FIRST, SECOND)), follow=True)
    assert "Dismissed, in your name." in done.content.decode()
    assert head() != before
    assert git(conf.current().repository_path("clinica"), "rev-parse", "main~1") == before
    assert finding().values["other"] == THIRD


def test_the_unit_page_offers_to_compare_and_then_tells_of_the_dismissal(
    curator: Client, workspace: Workspace
):
    unit = UnitRecord.objects.get(path=FIRST)
    place = reverse("admin:evidence_unitrecord_change", args=[unit.pk])
    page = curator.get(place).content.decode()
    assert "Compare and decide" in page
    curator.post(COMPARE, posted((FIRST, SECOND)))
    assert "1 warning about this unit is dismissed" in curator.get(place).content.decode()


def test_what_is_dismissed_is_listed_and_can_be_shown_again(curator: Client, workspace: Workspace):
    curator.post(COMPARE, posted((FIRST, SECOND)))
    assert "1 dismissed warning" in curator.get(LIST).content.decode()
    page = curator.get(DISMISSED, {"workspace": "clinica"})
    (row,) = page.context["rows"]
    assert row["told"].holds
    done = curator.post(RESTORE, {"workspace": "clinica", "line": row["told"].line}, follow=True)
    assert "No longer dismissed" in done.content.decode()
    assert "Nothing is dismissed" in done.content.decode()
    assert finding().values["other"] == SECOND


def test_a_dismissal_that_lapsed_says_so(curator: Client, workspace: Workspace):
    curator.post(COMPARE, posted((FIRST, SECOND)))
    path, data = unit_file(a_term("b", "Altro."))
    put(conf.current().repository_path("clinica"), {f"evidence/{path}": data})
    mirror.sync_workspace("clinica")
    page = curator.get(DISMISSED, {"workspace": "clinica"}).content.decode()
    assert "lapsed: a unit changed" in page
    assert "Take it off the list" in page


def test_a_refusal_shows_the_warnings_again_and_commits_nothing(
    curator: Client, workspace: Workspace
):
    before = head()
    page = curator.post(COMPARE, posted((FIRST, SECOND), (FIRST, THIRD)))
    assert page.status_code == 422
    text = page.content.decode()
    assert "dismissal_refused" in text
    assert "Significato b." in text, "what still stands is kept"
    assert head() == before


def test_a_warning_that_went_meanwhile_says_so(curator: Client, workspace: Workspace):
    curator.post(COMPARE, posted((FIRST, SECOND)))
    page = curator.get(COMPARE, posted((FIRST, SECOND)))
    assert "This warning is gone" in page.content.decode()


def test_ticked_warnings_are_dismissed_in_one_commit(curator: Client, workspace: Workspace):
    before = head()
    page = curator.post(LIST, ticked(finding(FIRST), finding(SECOND), finding(THIRD)))
    pairs = page.context["pairs"]
    assert len(pairs) == 2, "two ticks of one pair are one warning"
    asked = posted(*((each.warned.path, each.warned.other) for each in pairs))
    curator.post(COMPARE, asked)
    assert git(conf.current().repository_path("clinica"), "rev-parse", "main~1") == before


def test_select_all_takes_the_filtered_list_alone(curator: Client, workspace: Workspace):
    disagreeing("altra", "x", "y")
    place = f"{LIST}?workspace=clinica&code=conflicting_term"
    page = curator.post(place, ticked(finding(FIRST), select_across="1"))
    assert {each.warned.path for each in page.context["pairs"]} <= {FIRST, SECOND, THIRD}
    everything = curator.post(LIST, ticked(finding(FIRST), select_across="1"), follow=True)
    assert "choose these alone" in everything.content.decode(), "errors are never dismissed"


def test_ids_of_another_workspace_are_not_dismissed_with_these(
    curator: Client, workspace: Workspace
):
    other = disagreeing("altra", "x", "y")
    foreign = FindingRecord.objects.filter(workspace=other, code="conflicting_term")[0]
    page = curator.post(LIST, ticked(finding(), foreign), follow=True)
    assert "one workspace at a time" in page.content.decode()
    narrowed = curator.post(f"{LIST}?workspace=clinica", ticked(finding(), foreign))
    assert [each.warned.path for each in narrowed.context["pairs"]] == [FIRST]
    before = head(), head("altra")
    refused = curator.post(COMPARE, posted((foreign.path, foreign.values["other"])))
    assert refused.status_code == 422
    assert (head(), head("altra")) == before


@pytest.mark.parametrize("code", ["orphaned_unit", "excerpt_not_found", "hidden_text"])
def test_what_is_not_about_two_units_cannot_be_dismissed(
    curator: Client, workspace: Workspace, code: str
):
    before = head()
    FindingRecord.objects.filter(pk=finding().pk).update(code=code)
    assert curator.post(COMPARE, posted((FIRST, SECOND), code=code)).status_code == 422
    assert head() == before


def test_readers_and_operators_cannot_dismiss(reader: Client, sign_in, workspace: Workspace):
    before = head()
    for client in (reader, sign_in("Operators")):
        assert client.post(COMPARE, posted((FIRST, SECOND))).status_code == 403
        line = {"workspace": "clinica", "line": "x"}
        assert client.post(RESTORE, line).status_code == 403
        page = client.post(LIST, ticked(finding()), follow=True)
        assert "pairs" not in page.context
    assert head() == before


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 404),
        ({"workspace": "altrove", "code": "x", "path": "y", "other": "z"}, 404),
        ({"workspace": "a\0b", "code": "x", "path": "y", "other": "z"}, 404),
        ({"workspace": "clinica"}, 400),
        ({"workspace": "clinica", "code": "x", "path": "y"}, 400),
        ({"workspace": "clinica", "code": "x", "path": "y\0", "other": "z"}, 400),
        (
            {
                "workspace": "clinica",
                "code": ["x"] * 101,
                "path": ["y"] * 101,
                "other": ["z"] * 101,
            },
            400,
        ),
    ],
)
def test_an_address_that_no_page_gives_is_refused(
    curator: Client, workspace: Workspace, asked: Asked, status: int
):
    assert curator.get(COMPARE, asked).status_code == status
    assert curator.post(COMPARE, asked).status_code == status


def queries_of(client: Client, place: str, asked: Asked) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(place, asked).status_code == 200
    return len(queries)


def test_the_pages_ask_as_often_for_many_warnings_as_for_one(curator: Client, portal_home: Path):
    counts = []
    for slug, names in (("poche", "ab"), ("molte", "abcdefghilmn")):
        disagreeing(slug, *names)
        rows = FindingRecord.objects.filter(workspace__slug=slug, code="conflicting_term")
        pairs = [(row.path, row.values["other"]) for row in rows]
        asked = posted(*pairs, slug=slug)
        compared = queries_of(curator, COMPARE, asked)
        curator.post(COMPARE, asked)
        counts.append((compared, queries_of(curator, DISMISSED, {"workspace": slug})))
    assert counts[0] == counts[1]
