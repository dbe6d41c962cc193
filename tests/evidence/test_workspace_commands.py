"""`tht workspace`: registering, listing and synchronizing at the terminal."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evidence import conf
from evidence.models import UnitRecord, Workspace
from evidence.workspace_commands import workspace_app
from tests.makers import a_corpus, a_repository, git, put, yaml_of_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(portal_home: Path) -> Path:
    return portal_home


def tht(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(workspace_app, [*arguments, "--json"])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def refused(*arguments: str, code: int = 1) -> str:
    return str(tht(*arguments, code=code)["error"]["code"])


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    bare = a_repository(tmp_path / "upstream.git", a_corpus(2)).path
    work = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(bare), str(work)], check=True)
    return work


def test_a_clone_is_added_and_mirrored(clone: Path):
    report = tht("add", str(clone))
    assert (report["workspace"], report["publishable"], report["files"]) == ("clinica", True, 6)
    row = Workspace.objects.get()
    assert (row.branch, row.folder, row.single_approver) == ("main", "", False)
    assert git(conf.current().repository_path("clinica"), "remote") == ""
    assert UnitRecord.objects.count() == 2
    assert [each.name for each in conf.current().repositories.iterdir()] == ["clinica.git"]


def test_a_bare_repository_is_added_too(tmp_path: Path):
    bare = a_repository(tmp_path / "upstream.git", a_corpus(1)).path
    assert tht("add", str(bare), "--single-approver")["publishable"]
    assert Workspace.objects.get().single_approver


def test_the_only_folder_with_a_workspace_file_is_found(tmp_path: Path):
    files = {f"kb/clinica/{path}": data for path, data in a_corpus(1).items()}
    bare = a_repository(tmp_path / "upstream.git", files).path
    assert tht("add", str(bare))["publishable"]
    assert Workspace.objects.get().folder == "kb/clinica"


def test_of_several_folders_one_must_be_named(tmp_path: Path):
    files = {f"a/{path}": data for path, data in a_corpus(1).items()}
    files["b/workspace.yaml"] = yaml_of_workspace("altra")
    bare = a_repository(tmp_path / "upstream.git", files).path
    assert refused("add", str(bare)) == "workspace_folder_undecided"
    assert refused("add", str(bare), "--folder", "c") == "workspace_folder_undecided"
    assert tht("add", str(bare), "--folder", "./a/")["publishable"]
    assert tht("add", str(bare), "--folder", "b")["workspace"] == "altra"


def test_what_cannot_be_added_leaves_nothing_behind(clone: Path, tmp_path: Path):
    assert refused("add", str(tmp_path / "nowhere")) == "repository_not_found"
    assert refused("add", str(clone), "--branch", "other") == "repository_not_found"
    assert refused("add", "https://example.org/kb.git") == "remote_unsupported"
    assert refused("add", "git@example.org:kb.git") == "remote_unsupported"
    empty = a_repository(tmp_path / "empty.git", {"README.md": b"x"}).path
    assert refused("add", str(empty)) == "workspace_folder_undecided"
    broken = a_repository(tmp_path / "broken.git", {"workspace.yaml": b"x: ["}).path
    assert refused("add", str(broken)) == "workspace_invalid"
    assert list(conf.current().repositories.iterdir()) == []
    assert not Workspace.objects.exists()


def test_a_slug_is_registered_once(clone: Path):
    tht("add", str(clone))
    assert refused("add", str(clone)) == "workspace_registered"
    shutil.rmtree(conf.current().repository_path("clinica"))
    assert refused("add", str(clone)) == "workspace_registered"
    assert not conf.current().repository_path("clinica").exists()


def test_misuse_is_told_apart(clone: Path):
    assert refused("add", str(clone), "--branch", "main", "--branch", "x", code=2) == "usage"
    assert refused("sync", "--nope", code=2) == "usage"
    assert refused("sync", "nope") == "workspace_unknown"


def test_the_list_says_where_each_stands(clone: Path):
    assert tht("list") == []
    tht("add", str(clone))
    (listed,) = tht("list")
    assert (listed["slug"], listed["units"], listed["publishable"]) == ("clinica", 2, True)
    shown = CliRunner().invoke(workspace_app, ["list"])
    assert "clinica" in shown.stdout


def test_sync_mirrors_what_arrived_and_rebuild_makes_it_anew(clone: Path):
    tht("add", str(clone))
    head = put(conf.current().repository_path("clinica"), {"evidence/source/x.md": b"x\n"})
    report = tht("sync", "clinica")
    assert (report["head"], report["files"], report["publishable"]) == (head, 1, False)
    assert tht("sync", "clinica")["files"] == 0
    UnitRecord.objects.all().delete()
    assert tht("sync", "clinica", "--rebuild")["files"] == 7
    assert UnitRecord.objects.count() == 2
    shown = CliRunner().invoke(workspace_app, ["sync", "clinica"])
    assert "Can be published" in shown.stdout
