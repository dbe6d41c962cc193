"""The mirror says what Git says, at a cost that follows the change."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidence import conf, mirror, plugged, projection
from evidence.domain.dismissals import Dismissal, Side, dump_dismissals
from evidence.domain.normalization import source_hash
from evidence.models import (
    FindingRecord,
    RevisionRecord,
    SourceRecord,
    UnitRecord,
    Workspace,
)
from evidence.reading import read_directory, read_revision
from tests.evidence.mirrors import assert_mirrors
from tests.makers import (
    a_corpus,
    a_numbered_unit,
    a_unit,
    a_workspace,
    git,
    put,
    put_link,
    sentence,
    unit_file,
    yaml_of_workspace,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(portal_home: Path) -> Path:
    return portal_home


def bare(workspace: Workspace) -> Path:
    return conf.current().repository_path(workspace.slug)


def push(workspace: Workspace, files: dict[str, bytes | None]) -> str:
    return put(bare(workspace), files)


def test_a_first_sync_mirrors_units_sources_and_the_head():
    workspace = a_workspace(a_corpus(2))
    report = mirror.sync_workspace(workspace.slug)
    assert report.publishable
    assert UnitRecord.objects.filter(is_valid=True, is_orphan=False).count() == 2
    assert {row.state for row in SourceRecord.objects.all()} == {"prepared"}
    assert {row.unit_count for row in SourceRecord.objects.all()} == {1}
    assert_mirrors(workspace)


def test_a_sync_without_a_change_looks_at_nothing():
    workspace = a_workspace()
    first = mirror.sync_workspace(workspace.slug)
    again = mirror.sync_workspace(workspace.slug)
    assert (again.files, again.before, again.head) == (0, first.head, first.head)


def test_an_edit_touches_one_row_and_keeps_its_key(django_assert_max_num_queries):
    workspace = a_workspace(a_corpus(30))
    mirror.sync_workspace(workspace.slug)
    keys = dict(UnitRecord.objects.values_list("path", "pk"))
    text = "La regola 3 vale per i pediatrici.\n"
    unit = a_unit("evidence:regola-3", source="source/nota-3.md", text=text, title="Altro titolo")
    path, data = unit_file(unit)
    push(workspace, {f"evidence/{path}": data})
    report = mirror.sync_workspace(workspace.slug)
    assert report.files == 1
    assert dict(UnitRecord.objects.values_list("path", "pk")) == keys
    assert UnitRecord.objects.get(path=path).title == "Altro titolo"
    assert_mirrors(workspace)


def test_a_file_that_does_not_parse_is_an_invalid_row_and_stops_nothing():
    workspace = a_workspace(a_corpus(2))
    mirror.sync_workspace(workspace.slug)
    path = "curated/glossary/regola-1.md"
    push(workspace, {f"evidence/{path}": b"---\nid: [broken\n"})
    report = mirror.sync_workspace(workspace.slug)
    row = UnitRecord.objects.get(path=path)
    assert (row.is_valid, row.kind, row.title) == (False, "glossary", "regola-1")
    assert FindingRecord.objects.filter(path=path, code="unit_invalid").exists()
    assert not report.publishable
    assert_mirrors(workspace)


def test_a_changed_source_touches_the_units_that_cite_it():
    workspace = a_workspace(a_corpus(3))
    mirror.sync_workspace(workspace.slug)
    push(workspace, {"evidence/source/nota-1.md": b"Tutt'altro.\n"})
    mirror.sync_workspace(workspace.slug)
    codes = set(
        FindingRecord.objects.filter(path="curated/glossary/regola-1.md").values_list(
            "code", flat=True
        )
    )
    assert codes == {"source_hash_mismatch", "excerpt_not_found"}
    assert SourceRecord.objects.get(path="source/nota-1.md").state == "changed"
    assert_mirrors(workspace)


def test_a_removed_source_stays_as_removed_while_the_manifest_names_it():
    workspace = a_workspace(a_corpus(2))
    mirror.sync_workspace(workspace.slug)
    push(workspace, {"evidence/source/nota-1.md": None})
    mirror.sync_workspace(workspace.slug)
    row = SourceRecord.objects.get(path="source/nota-1.md")
    assert (row.state, row.blob, row.unit_count) == ("removed", "", 1)
    assert_mirrors(workspace)


def test_an_outside_rewrite_of_history_is_mirrored_anew():
    workspace = a_workspace(a_corpus(2))
    mirror.sync_workspace(workspace.slug)
    other = a_workspace(a_corpus(1), slug="other")
    fresh = bare(other)
    kept = bare(workspace)
    fresh.rename(kept.with_suffix(".new"))
    kept.rename(kept.with_suffix(".old"))
    kept.with_suffix(".new").rename(kept)
    report = mirror.sync_workspace(workspace.slug)
    assert report.head != report.before
    assert UnitRecord.objects.filter(workspace=workspace).count() == 1
    assert RevisionRecord.objects.filter(workspace=workspace).count() == 1


def test_two_syncs_of_one_head_write_it_once(monkeypatch: pytest.MonkeyPatch):
    workspace = a_workspace(a_corpus(2))
    nested: list[bool] = []

    def overtaken(repository, known, head):
        made = projection.project(repository, known, head)
        if not nested:
            nested.append(True)
            mirror.sync_workspace(workspace.slug)
        return made

    monkeypatch.setattr(mirror, "project", overtaken)
    mirror.sync_workspace(workspace.slug)
    assert_mirrors(workspace)


def test_hostile_names_end_in_refused_findings():
    workspace = a_workspace(a_corpus(1))
    mirror.sync_workspace(workspace.slug)
    push(
        workspace,
        {
            "evidence/source/Twin.md": b"x\n",
            "evidence/source/twin.md": b"y\n",
            "evidence/source/zero\u200bwidth.md": b"z\n",
            "evidence/source/nfd-e\u0301.md": b"z\n",
            "evidence/curated/glossary/GIT~1/x.md": b"z\n",
            "evidence/odd.bin": b"\0",
        },
    )
    mirror.sync_workspace(workspace.slug)
    refused = FindingRecord.objects.filter(code="path_refused").values_list("path", flat=True)
    assert len(refused) == 6
    assert not SourceRecord.objects.filter(path__icontains="twin").exists()
    assert_mirrors(workspace)
    push(workspace, {"evidence/source/twin.md": b"edited\n"})
    mirror.sync_workspace(workspace.slug)
    assert not SourceRecord.objects.filter(path__icontains="twin").exists()
    push(workspace, {"evidence/source/Twin.md": None})
    mirror.sync_workspace(workspace.slug)
    assert SourceRecord.objects.filter(path="source/twin.md").exists()
    assert_mirrors(workspace)


@pytest.mark.parametrize(
    ("mode", "code"), [("120000", "symlink_refused"), ("160000", "path_refused")]
)
@pytest.mark.parametrize(
    "name", ["evidence/source/link.md", "evidence/evaluation.yaml", "evidence"]
)
def test_links_and_submodules_are_refused_and_never_followed(mode: str, code: str, name: str):
    workspace = a_workspace(a_corpus(1))
    mirror.sync_workspace(workspace.slug)
    target = "1" * 40 if mode == "160000" else "../workspace.yaml"
    put_link(bare(workspace), name, mode=mode, target=target)
    assert not mirror.sync_workspace(workspace.slug).publishable
    assert FindingRecord.objects.filter(code=code, path=name.removeprefix("evidence/")).exists()
    assert_mirrors(workspace)


def test_a_workspace_file_that_is_a_link_is_none():
    workspace = a_workspace(a_corpus(1))
    mirror.sync_workspace(workspace.slug)
    put_link(bare(workspace), "workspace.yaml", mode="120000", target="/etc/passwd")
    mirror.sync_workspace(workspace.slug)
    codes = set(FindingRecord.objects.values_list("code", flat=True))
    assert {"workspace_missing", "symlink_refused"} <= codes
    assert_mirrors(workspace)


def test_a_revision_and_its_checkout_are_one_tree(tmp_path: Path):
    workspace = a_workspace(a_corpus(2))
    push(workspace, {"evidence/source/.hidden/x.md": b"x", "evidence/other.txt": b"x"})
    put_link(bare(workspace), "evidence/source/l.md", mode="120000", target="a.md")
    head = plugged.repository(workspace.slug).head("main")
    git(bare(workspace), "--work-tree", str(tmp_path), "checkout", "-q", "-f", "main", "--", ".")
    assert read_revision(plugged.repository(workspace.slug), head) == read_directory(tmp_path)


def test_a_manifest_that_breaks_and_heals_touches_what_it_never_listed():
    corpus = a_corpus(2)
    unlisted = unit_file(a_numbered_unit(7, source="source/nota-0.md", text=sentence(0)))
    workspace = a_workspace(
        corpus | {"evidence/source/nuova.md": b"Nuova.\n", f"evidence/{unlisted[0]}": unlisted[1]}
    )
    mirror.sync_workspace(workspace.slug)
    for manifest in (b"sources: [", corpus["evidence/manifest.yaml"], None):
        push(workspace, {"evidence/manifest.yaml": manifest})
        mirror.sync_workspace(workspace.slug)
        assert_mirrors(workspace)


def test_who_is_an_orphan_follows_the_manifest_alone():
    corpus = a_corpus(2)
    workspace = a_workspace(corpus)
    mirror.sync_workspace(workspace.slug)
    whole = corpus["evidence/manifest.yaml"]
    orphaned = whole.replace(b"    units:\n    - evidence:regola-1\n", b"    units: []\n").replace(
        b"orphans: []", b"orphans:\n- evidence:regola-1"
    )
    for manifest, orphans in ((orphaned, 1), (whole, 0)):
        push(workspace, {"evidence/manifest.yaml": manifest})
        assert mirror.sync_workspace(workspace.slug).orphans == orphans
        assert UnitRecord.objects.filter(is_orphan=True).count() == orphans


STEPS = (
    "unit",
    "rename",
    "drop-unit",
    "source",
    "drop-source",
    "break-unit",
    "manifest",
    "break-manifest",
    "evaluation",
    "workspace",
    "say",
    "say",
    "dismiss",
    "twin",
    "restore",
)


def sayings() -> Iterator[tuple[str, bytes]]:
    """Give units that say the same, nearly the same, or something else of one thing."""
    for number, words in itertools.product(range(4), ("Anni", "Mesi", "Anni")):
        source = f"source/nota-{number}.md"
        evidence_id = f"evidence:regola-{number}"
        language = {"language": "en"} if number == 3 else {}
        said = {"term": "Età", "definition": f"{words} compiuti al giorno del ricovero."}
        formula = {"concept": "BMI", "columns": ["c.p.x"], "sql": f"c.p.x > {len(words) % 3}"}
        for kind, payload in (("glossary", said), ("formula", formula)):
            made = a_unit(
                evidence_id, kind=kind, title="Età", source=source, payload=payload, **language
            )
            path, data = unit_file(made)
            yield f"evidence/{path}", data


SAYINGS = list(sayings())


def some_dismissals(dice: random.Random) -> bytes | None:
    """Dismiss some warnings, of texts that are there or are not, or break the file."""
    if dice.random() < 0.2:
        return dice.choice([None, b"dismissals: [", b"\xff"])
    sides = [
        Side(f"evidence:{path.rpartition('/')[2][:-3]}", source_hash(data.decode()))
        for path, data in SAYINGS
    ]
    codes = ("near_duplicate", "conflicting_term", "conflicting_formula")
    pairs = itertools.product(codes, sides, sides)
    return dump_dismissals(Dismissal.of(*each) for each in pairs if dice.random() < 0.5).encode()


def a_step(kind: str, dice: random.Random, corpus: dict[str, bytes]) -> dict[str, bytes | None]:
    """One change of a random history, as an outside push might bring it."""
    number = dice.randrange(4)
    unit = f"evidence/curated/glossary/regola-{number}.md"
    source = f"evidence/source/nota-{number}.md"
    text = f"La regola {number} vale per i pediatrici.\n"
    moved = a_unit(
        f"evidence:regola-{dice.randrange(4)}", source=f"source/nota-{number}.md", text=text
    )
    changes: dict[str, dict[str, bytes | None]] = {
        "unit": {unit: unit_file(moved)[1]},
        "rename": {unit: None, f"evidence/curated/enum/regola-{number}.md": corpus[unit]},
        "drop-unit": {unit: None},
        "source": {source: f"{text}Di nuovo {dice.random()}.\n".encode()},
        "drop-source": {source: None},
        "break-unit": {unit: b"---\nnope"},
        "manifest": {
            "evidence/manifest.yaml": a_corpus(dice.randrange(1, 5))[
                "evidence/manifest.yaml"
            ].replace(
                b"orphans: []",
                b"orphans:\n- evidence:perduta" if dice.random() < 0.5 else b"orphans: []",
            )
        },
        "break-manifest": {"evidence/manifest.yaml": b"sources: ["},
        "evaluation": {
            "evidence/evaluation.yaml": dice.choice(
                [None, corpus["evidence/evaluation.yaml"].replace(b"regola-0", b"regola-9")]
            )
        },
        "workspace": {
            "workspace.yaml": dice.choice(
                [
                    b"broken: [",
                    yaml_of_workspace(evidence='  exclude:\n  - "**/nota-2.md"\n'),
                    yaml_of_workspace(),
                ]
            )
        },
        "say": dict([dice.choice(SAYINGS)]),
        "dismiss": {"evidence/dismissals.yaml": some_dismissals(dice)},
        "twin": {"evidence/source/NOTA-1.md": dice.choice([None, b"Gemella.\n"])},
        "restore": dict(corpus),
    }
    return changes[kind]


@pytest.mark.parametrize("seed", range(6))
def test_after_a_random_history_the_rows_are_those_of_a_rebuild(seed: int):
    dice = random.Random(seed)  # noqa: S311
    corpus = a_corpus(4)
    workspace = a_workspace(corpus)
    mirror.sync_workspace(workspace.slug)
    for _ in range(16):
        push(workspace, a_step(dice.choice(STEPS), dice, corpus))
        if dice.random() < 0.7:
            mirror.sync_workspace(workspace.slug)
            assert_mirrors(workspace)
    mirror.sync_workspace(workspace.slug)
    assert_mirrors(workspace)
