"""A unit becomes stale by time alone, and stops when somebody changes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine

from evidence import conf, curation, mirror, overview
from evidence.adapters import git_import
from evidence.adapters.git import COMMITTER
from evidence.models import FindingRecord, UnitRecord, Workspace
from evidence.stale import stale_units
from tests.evidence.mirrors import assert_mirrors
from tests.makers import (
    CURATOR,
    SOMEBODY,
    a_corpus,
    a_numbered_unit,
    a_workspace,
    git,
    sentence,
    unit_file,
    yaml_of_workspace,
)

pytestmark = pytest.mark.django_db

AFTER_18 = {"workspace.yaml": yaml_of_workspace(evidence="  review_after_months: 18\n")}


def at(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, 12, tzinfo=UTC)


def put_at(when: datetime, files: Mapping[str, bytes | None], slug: str = "clinica") -> None:
    """Commit on main behind the portal's back, as somebody wrote it then, and mirror it."""
    path = conf.current().repository_path(slug)
    commit = git_import.write_commit(
        path,
        files,
        parent=git(path, "rev-parse", "main"),
        words=git_import.Words(git_import.People(SOMEBODY, COMMITTER), when, "x"),
    )
    git(path, "update-ref", "refs/heads/main", commit)
    mirror.sync_workspace(slug)


def edited(number: int, title: str) -> dict[str, bytes | None]:
    unit = a_numbered_unit(
        number, source=f"source/nota-{number}.md", text=sentence(number), title=title
    )
    path, data = unit_file(unit)
    return {f"evidence/{path}": data}


def stale(now: datetime) -> list[str]:
    rows = stale_units(Workspace.objects.all(), now)
    return sorted(row.evidence_id for row in rows)


@pytest.fixture
def workspace(portal_home: Path, db: None) -> Workspace:
    """Three units, written on 2 January 2026."""
    made = a_workspace(a_corpus(3) | AFTER_18)
    mirror.sync_workspace(made.slug)
    return Workspace.named(made.slug)


def test_a_unit_is_stale_once_its_months_are_over_without_any_sync(workspace: Workspace):
    assert stale(at(2027, 7, 1)) == []
    assert stale(at(2027, 7, 3)) == [f"evidence:regola-{number}" for number in range(3)]


def test_a_change_starts_the_time_again_and_other_units_stay_stale(workspace: Workspace):
    put_at(at(2026, 9, 1), edited(1, "Nuovo"))
    assert stale(at(2027, 8, 1)) == ["evidence:regola-0", "evidence:regola-2"]
    assert_mirrors(workspace)


def test_a_unit_changed_and_changed_back_between_two_syncs_was_looked_at(workspace: Workspace):
    path = conf.current().repository_path("clinica")
    before = git(path, "rev-parse", "main")
    put_at(at(2026, 5, 1), edited(0, "Altro"))
    git(path, "update-ref", "refs/heads/main", before)
    mirror.sync_workspace("clinica")
    head = git(path, "rev-parse", "main")
    assert UnitRecord.objects.get(evidence_id="evidence:regola-0").changed_at == at(2026, 1, 2)
    first = git_import.write_commit(
        path,
        edited(0, "Altro"),
        parent=head,
        words=git_import.Words(git_import.People(SOMEBODY, COMMITTER), at(2026, 6, 1), "x"),
    )
    git(path, "update-ref", "refs/heads/main", first)
    put_at(at(2026, 6, 2), edited(0, "Regola 0"))
    assert UnitRecord.objects.get(evidence_id="evidence:regola-0").changed_at == at(2026, 6, 2)
    assert_mirrors(workspace)


def test_settling_a_doubt_counts_as_a_look(workspace: Workspace):
    doubt = {"review_items": [{"code": "kind_inferred", "message": "Is it a rule?"}]}
    unit = a_numbered_unit(0, source="source/nota-0.md", text=sentence(0), **doubt)
    path, data = unit_file(unit)
    put_at(at(2026, 1, 3), {f"evidence/{path}": data})
    row = UnitRecord.objects.get(path=path)
    settled = unit_file(unit.model_copy(update={"review_items": ()}))[1].decode()
    with time_machine.travel(at(2027, 6, 1), tick=False):
        curation.save_file(
            workspace="clinica", path=path, text=settled, blob=row.blob, author=CURATOR
        )
    assert stale(at(2027, 8, 1)) == ["evidence:regola-1", "evidence:regola-2"]


def test_the_months_of_the_workspace_file_count_at_once(workspace: Workspace):
    months = yaml_of_workspace(evidence="  review_after_months: 2\n")
    put_at(at(2026, 2, 1), {"workspace.yaml": months})
    assert len(stale(at(2026, 3, 3))) == 3
    put_at(at(2026, 2, 2), {"workspace.yaml": yaml_of_workspace()})
    assert stale(at(2099, 1, 1)) == []
    assert_mirrors(workspace)


def test_a_mirror_made_before_dates_were_kept_gets_them_with_the_next_commit(
    workspace: Workspace,
):
    UnitRecord.objects.update(changed_at=None)
    assert stale(at(2099, 1, 1)) == []
    put_at(at(2026, 2, 1), {"evidence/source/nota-9.md": b"x\n"})
    assert len(stale(at(2027, 8, 1))) == 3
    assert_mirrors(workspace)


def test_being_stale_is_neither_a_row_nor_a_hindrance(workspace: Workspace):
    with time_machine.travel(at(2027, 8, 1), tick=False):
        summary = overview.workspace("clinica")
        mirror.sync_workspace("clinica", rebuild=True)
    assert (summary.stale, summary.warnings, summary.publishable) == (3, 0, True)
    assert not FindingRecord.objects.filter(code="stale_unit").exists()
