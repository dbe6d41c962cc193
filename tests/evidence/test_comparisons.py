"""Warnings about several units follow a change in the mirror, at a cost that follows it too."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evidence import conf, mirror
from evidence.domain.dismissals import Dismissal, Side, dump_dismissals
from evidence.domain.likeness import COMMON
from evidence.domain.normalization import source_hash
from evidence.domain.units import CuratedEvidence
from evidence.models import FindingRecord, UnitKeyRecord, Workspace
from tests.evidence.mirrors import assert_mirrors
from tests.makers import a_corpus, a_unit, a_workspace, put, unit_file, yaml_of_workspace

pytestmark = pytest.mark.django_db

NOTE = (
    "Sono pediatrici i pazienti che al momento del ricovero hanno meno di diciotto anni compiuti,"
    " anche quando la dimissione avviene dopo il compleanno; fanno eccezione i neonati"
)


@pytest.fixture(autouse=True)
def home(portal_home: Path) -> Path:
    return portal_home


@pytest.fixture
def workspace() -> Workspace:
    made = a_workspace(a_corpus(1))
    mirror.sync_workspace(made.slug)
    return made


def a_term(name: str, definition: str, term: str = "età") -> CuratedEvidence:
    return a_unit(
        f"evidence:{name}",
        source="source/nota-0.md",
        text="La regola 0 vale per i pediatrici.\n",
        title=f"Termine {name}",
        payload={"term": term, "definition": definition},
    )


def push(workspace: Workspace, *units: CuratedEvidence, **files: bytes | None) -> None:
    """Commit units, and files of `evidence/` (`a__yaml` stands for `a.yaml`), and mirror them."""
    changes: dict[str, bytes | None] = {
        f"evidence/{path}": data for path, data in map(unit_file, units)
    }
    changes |= {f"evidence/{name.replace('__', '.')}": data for name, data in files.items()}
    put(conf.current().repository_path(workspace.slug), changes)
    mirror.sync_workspace(workspace.slug)


def told(code: str) -> set[str]:
    """Give the names of the units that a warning speaks to."""
    paths = FindingRecord.objects.filter(code=code).values_list("path", flat=True)
    return {path.rpartition("/")[2].removesuffix(".md") for path in paths}


def dismissal(code: str, one: CuratedEvidence, other: CuratedEvidence) -> bytes:
    sides = (Side(unit.id, source_hash(unit_file(unit)[1].decode())) for unit in (one, other))
    return dump_dismissals([Dismissal.of(code, *sides)]).encode()


def test_a_contradiction_comes_and_goes_with_either_unit(workspace: Workspace) -> None:
    push(workspace, a_term("a", "Anni."))
    assert told("conflicting_term") == set()
    push(workspace, a_term("b", "Mesi."))
    assert told("conflicting_term") == {"a", "b"}
    push(workspace, a_term("a", "Mesi."))
    assert told("conflicting_term") == set()
    push(workspace, a_term("a", "Anni."))
    push(workspace, a_term("b", "Mesi.", term="durata"))
    assert told("conflicting_term") == set()
    push(workspace, a_term("b", "Mesi."))
    put(conf.current().repository_path("clinica"), {"evidence/curated/glossary/b.md": None})
    mirror.sync_workspace(workspace.slug)
    assert told("conflicting_term") == set()
    assert_mirrors(workspace)


def test_a_dismissal_counts_as_soon_as_it_is_there_and_until_a_side_changes(
    workspace: Workspace,
) -> None:
    one, other = a_term("a", f"{NOTE}."), a_term("b", f"{NOTE} sani.")
    push(workspace, one, other)
    assert told("near_duplicate") == {"a", "b"}
    push(workspace, dismissals__yaml=dismissal("near_duplicate", one, other))
    assert told("near_duplicate") == set()
    assert told("conflicting_term") == {"a", "b"}
    assert_mirrors(workspace)
    push(workspace, a_term("b", f"{NOTE} malati."))
    assert told("near_duplicate") == {"a", "b"}
    push(workspace, other)
    assert told("near_duplicate") == set()
    push(workspace, dismissals__yaml=None)
    assert told("near_duplicate") == {"a", "b"}
    assert_mirrors(workspace)


def test_a_broken_file_of_dismissals_dismisses_nothing_and_is_named(workspace: Workspace) -> None:
    one, other = a_term("a", "Anni."), a_term("b", "Mesi.")
    push(workspace, one, other, dismissals__yaml=dismissal("conflicting_term", one, other))
    assert told("conflicting_term") == set()
    push(workspace, dismissals__yaml=b"dismissals: [")
    assert told("conflicting_term") == {"a", "b"}
    assert FindingRecord.objects.get(code="dismissals_invalid").path == "dismissals.yaml"
    assert_mirrors(workspace)


def test_another_language_of_the_workspace_is_another_comparison(workspace: Workspace) -> None:
    italian = a_term("a", "Anni.").model_copy(update={"language": "it"})
    push(workspace, italian, a_term("b", "Mesi."))
    assert told("conflicting_term") == {"a", "b"}
    english = yaml_of_workspace().replace(b"language: it", b"language: en")
    put(conf.current().repository_path("clinica"), {"workspace.yaml": english})
    mirror.sync_workspace(workspace.slug)
    assert told("conflicting_term") == set()
    assert_mirrors(workspace)


def test_a_phrase_that_becomes_common_and_rare_again_is_counted_right(
    workspace: Workspace,
) -> None:
    most = COMMON + 6
    units = [a_term(f"u{number}", f"{NOTE} tipo{number}.") for number in range(most)]
    push(workspace, *units[:COMMON])
    assert len(told("near_duplicate")) == COMMON
    for unit in units[COMMON:]:
        push(workspace, unit)
        assert_mirrors(workspace)
    assert len(told("near_duplicate")) < COMMON
    for number in reversed(range(COMMON, most)):
        path = f"evidence/curated/glossary/u{number}.md"
        put(conf.current().repository_path("clinica"), {path: None})
        mirror.sync_workspace(workspace.slug)
        assert_mirrors(workspace)
    assert len(told("near_duplicate")) == COMMON


def test_a_unit_that_breaks_leaves_no_key_and_no_warning_behind(workspace: Workspace) -> None:
    push(workspace, a_term("a", "Anni."), a_term("b", "Mesi."))
    push(workspace, **{"curated/glossary/b__md": b"---\nbroken"})
    assert told("conflicting_term") == set()
    assert not UnitKeyRecord.objects.filter(unit__path="curated/glossary/b.md").exists()
    assert_mirrors(workspace)


def test_an_edit_asks_as_little_of_a_large_workspace_as_of_a_small_one() -> None:
    asked = []
    for slug, units in (("piccola", 2), ("grande", 80)):
        workspace = a_workspace(a_corpus(units, slug=slug), slug=slug)
        mirror.sync_workspace(slug)
        with CaptureQueriesContext(connection) as queries:
            push(workspace, a_term("a", "Anni."))
        asked.append(len(queries))
    assert asked[0] == asked[1]
