"""What our writer stores is what Git itself makes of the same changes; Git is the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.adapters import git_creation, git_import, git_objects, git_pack, git_process
from evidence.adapters.git import COMMITTER
from evidence.ports import RepositoryBroken
from tests.makers import NOON, SOMEBODY, a_repository, git, put_link

Changes = Mapping[str, bytes | None]
WORDS = git_import.Words(git_import.People(SOMEBODY, COMMITTER), NOON, "Change")
BEGIN = {
    "workspace.yaml": b"w",
    "evidence/a/b.md": b"1",
    "evidence/a.md": b"2",
    "evidence/a-b/c/d.md": b"3",
    "evidence/a0": b"4",
    "evidence/è.md": b"5",
}
PATHS = st.lists(st.sampled_from(["a", "a.md", "a-b", "b", "c", "è"]), min_size=1, max_size=4)


def by_git(path: Path, changes: Changes, parent: str) -> str:
    """Give the tree that Git's own importer makes: what goes first, then what comes."""
    who = f"{SOMEBODY.name} <{SOMEBODY.email}> 0 +0000"
    gone = [f'D "{name}"'.encode() for name, data in changes.items() if data is None]
    come = [
        b'M 100644 inline "%s"\ndata %d\n%s' % (name.encode(), len(data), data)
        for name, data in changes.items()
        if data is not None
    ]
    begin = f"commit refs/heads/oracle\ncommitter {who}\ndata 0\nfrom {parent}".encode()
    stream = b"\n".join([begin, *gone, *come, b"", b"done", b""])
    git_process.output(path, "fast-import", "--quiet", "--force", "--done", stdin=stream)
    return git(path, "rev-parse", "refs/heads/oracle^{tree}")


def by_us(path: Path, changes: Changes, parent: str) -> str:
    made = git_import.write_commit(path, changes, parent=parent, words=WORDS)
    assert git(path, "rev-parse", f"{made}^") == parent
    return git(path, "rev-parse", f"{made}^{{tree}}")


@pytest.mark.parametrize(
    "changes",
    [
        {"evidence/a/b.md": b"new"},
        {"evidence/a/b.md": None},
        {"evidence/a-b/c/d.md": None, "evidence/a-b/x.md": b"x"},
        {"evidence/a.md": None, "evidence/a.md/b/c.md": b"a folder now"},
        {"evidence/a/b.md": None, "evidence/a": b"a file now"},
        {"evidence/a": b"a file over a folder"},
        {"evidence/a.md/x": b"a folder over a file"},
        {"evidence/missing/x.md": None, "evidence/a.md/x": None},
        dict.fromkeys(BEGIN),
        {"top": b"", "evidence/\U0001f600.md": b"\0\xff", "evidence/a b": b"x" * 70_000},
        {f"evidence/many/{number}.md": b"%d" % number for number in range(150)},
    ],
)
def test_a_change_makes_the_tree_that_git_makes(tmp_path: Path, changes: Changes) -> None:
    repository = a_repository(tmp_path / "r.git", BEGIN)
    head = repository.head("main")
    assert by_us(repository.path, changes, head) == by_git(repository.path, changes, head)
    assert git(repository.path, "fsck", "--strict", "--no-dangling") == ""


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(PATHS.map("/".join), st.none() | st.binary(max_size=9), max_size=6))
def test_any_change_without_a_file_inside_a_file_makes_the_tree_that_git_makes(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, bytes | None]
) -> None:
    written = [f"{name}/" for name, data in changes.items() if data is not None]
    kept = {
        name: data
        for name, data in changes.items()
        if data is None or not any(name.startswith(other) for other in written)
    }
    repository = a_repository(tmp_path_factory.mktemp("any") / "r.git", BEGIN)
    head = repository.head("main")
    wanted = {f"evidence/{name}": data for name, data in kept.items()}
    assert by_us(repository.path, wanted, head) == by_git(repository.path, wanted, head)


def test_neighbours_keep_their_modes(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "r.git", BEGIN)
    put_link(repository.path, "evidence/link", mode="120000", target="a.md")
    submodule = repository.head("main")
    head = put_link(repository.path, "evidence/module", mode="160000", target=submodule)
    changes = {"evidence/a.md": b"new"}
    assert by_us(repository.path, changes, head) == by_git(repository.path, changes, head)


def test_many_objects_are_kept_as_one_pack_and_few_as_files(tmp_path: Path) -> None:
    path = tmp_path / "r.git"
    git_creation.create(path)
    many = [git_pack.Made("blob", b"%d" % number) for number in range(git_pack.UNPACKED + 1)]
    git_pack.store(path, many)
    few = [git_pack.Made("blob", b"few"), git_pack.Made("blob", b"few")]
    git_pack.store(path, few)
    counted = git(path, "count-objects", "-v").split("\n")
    assert {"count: 1", f"in-pack: {len(many)}", "packs: 1"} <= set(counted)
    assert git(path, "cat-file", "blob", many[-1].id.hex()) == "100"


def test_a_look_up_says_what_is_missing_and_sees_what_comes(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "r.git", BEGIN)
    late = git_pack.Made("blob", b"late")
    with git_objects.lookup(repository.path) as objects:
        assert objects.find(late.id.hex()) is None
        assert objects.find("refs/heads/none") is None
        git_pack.store(repository.path, [late])
        assert objects.get(late.id.hex(), "blob") == b"late"
        with pytest.raises(RepositoryBroken):
            objects.get(late.id.hex(), "tree")


def test_a_look_up_where_no_repository_is_says_so(tmp_path: Path) -> None:
    with git_objects.lookup(tmp_path) as objects, pytest.raises(RepositoryBroken):
        objects.find("refs/heads/main")


def test_more_than_a_pipe_holds_is_looked_up_all_the_same(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "r.git", BEGIN)
    made = [git_pack.Made("blob", b"%d" % number * 9_000) for number in range(900)]
    git_pack.store(repository.path, made)
    ids = [each.id.hex() for each in made]
    with git_objects.lookup(repository.path) as objects:
        objects.fetch(["0" * 40, *ids])
        assert [objects.get(each, "blob") for each in ids] == [each.data for each in made]
        objects.fetch(["evil\nname", ids[0]])
        assert objects.find(ids[1]) == git_objects.Stored(ids[1], "blob", made[1].data)
