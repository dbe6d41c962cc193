"""Packing keeps a repository small, keeps every object and stands in nobody's way."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evidence import tasks
from evidence.adapters import git_packing, git_process
from evidence.adapters.git import GitRepository
from evidence.adapters.git_pack import Made, store
from evidence.conf import current
from evidence.domain.tree import ChangeSet
from tests.makers import SOMEBODY, a_repository, a_workspace, git


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    monkeypatch.setattr(git_packing, "LOOSE", 50)
    return a_repository(tmp_path / "r.git", {"workspace.yaml": b"w", "evidence/source/a.md": b""})


def save(repository: GitRepository, number: int, name: str = "a") -> str:
    change = ChangeSet({f"source/{name}.md": f"{number}\n".encode()})
    return repository.commit("main", change, SOMEBODY, "Edit", repository.head("main"))


def counted(repository: GitRepository) -> dict[str, int]:
    lines = git(repository.path, "count-objects", "-v").split("\n")
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}


def test_few_single_objects_are_left_alone(repository: GitRepository) -> None:
    before = counted(repository)
    assert not repository.pack()
    assert counted(repository) == before


def test_many_single_objects_become_few_packs_and_none_is_lost(repository: GitRepository) -> None:
    orphan = Made("blob", b"a version that only an open page names")
    store(repository.path, [orphan])
    for number in range(40):
        save(repository, number)
        repository.pack()
    after = counted(repository)
    assert after["count"] < 50
    assert after["packs"] <= 3
    assert repository.blobs([orphan.id.hex()])[orphan.id.hex()] == orphan.data
    assert int(git(repository.path, "rev-list", "--count", "main")) == 41
    assert git(repository.path, "fsck", "--strict", "--no-dangling") == ""


def test_saves_and_readers_go_on_while_objects_are_packed(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_packing, "LOOSE", 1)
    over = threading.Event()

    def keep_packing() -> int:
        times = 0
        while not over.is_set():
            times += GitRepository(repository.path).pack()
        return times

    def work(name: str) -> list[str]:
        made = [save(repository, number, name) for number in range(25)]
        for commit in made:
            (entry,) = repository.entries(commit, [f"evidence/source/{name}.md"])
            assert repository.blobs([entry.blob])[entry.blob]
        return made

    with ThreadPoolExecutor(3) as pool:
        packing = pool.submit(keep_packing)
        works = [pool.submit(work, name) for name in ("b", "c")]
        try:
            made = {commit for each in works for commit in each.result()}
        finally:
            over.set()
        assert packing.result() > 1
    assert made <= set(git(repository.path, "rev-list", "main").split())
    assert git(repository.path, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.django_db
def test_the_periodic_task_packs_each_repository_and_passes_a_broken_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(git_packing, "LOOSE", 1)
    for slug in ("broken", "clinica"):
        a_workspace({"workspace.yaml": b"w", "evidence/source/a.md": b""}, slug=slug)
    (current().repository_path("broken") / "HEAD").unlink()
    tasks.pack_repositories()
    path = current().repository_path("clinica")
    assert b"count: 0\n" in git_process.output(path, "count-objects", "-v")
