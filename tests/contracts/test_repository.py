"""The contract of `evidence.ports.Repository`, over the Git adapter with real processes."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evidence.adapters import git_creation, git_import, git_process
from evidence.adapters.git import COMMITTER, GitRepository
from evidence.domain.tree import ChangeSet
from evidence.ports import (
    Author,
    EditConflict,
    RepositoryBroken,
    RepositoryBusy,
    RevisionUnknown,
)
from tests.makers import SOMEBODY, a_repository, git

MANIFEST = """\
schema_version: 1
pipeline_version: evidence-authoring-v1
sources:
{sources}
orphans: []
"""


def entry(name: str, digit: str, *units: str) -> str:
    listed = "".join(f"    - evidence:{unit}\n" for unit in units)
    body = f"  source/{name}.md:\n    sha256: sha256:{digit * 64}\n"
    return body + (f"    units:\n{listed}" if units else "    units: []\n")


def manifest(*entries: str) -> bytes:
    return MANIFEST.format(sources="".join(entries).rstrip("\n")).encode()


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return a_repository(
        tmp_path / "r.git",
        {"workspace.yaml": b"w", "evidence/source/a.md": b"A\n", "evidence/source/b.md": b"B\n"},
    )


def save(repository: GitRepository, path: str, data: bytes | None, parent: str) -> str:
    return repository.commit("main", ChangeSet({path: data}), SOMEBODY, f"Edit {path}", parent)


def content(repository: GitRepository, path: str) -> bytes:
    found = repository.entry(repository.head("main"), f"evidence/{path}")
    assert found is not None
    return repository.blobs([found.blob])[found.blob]


def test_a_commit_says_who_wrote_it_and_touches_nothing_else(repository: GitRepository):
    before = repository.head("main")
    after = repository.commit(
        "main",
        ChangeSet({"source/a.md": b"A2\n", "source/new.md": b"N\n", "source/b.md": None}),
        Author("Ada <evil>\nx", "ada@example.org"),
        "Say more\n\nPortal-Action: save",
        before,
    )
    (commit,) = repository.history(after, after=before)
    assert commit.parents == (before,)
    assert commit.author == Author("Ada  evil x", "ada@example.org")
    assert commit.message == "Say more\n\nPortal-Action: save"
    assert {
        (c.path, c.before is None, c.after is None) for c in repository.changes(before, after)
    } == {
        ("evidence/source/a.md", False, False),
        ("evidence/source/new.md", True, False),
        ("evidence/source/b.md", False, True),
    }
    assert git(repository.path, "log", "-1", "--format=%cn") == COMMITTER.name
    assert git(repository.path, "fsck", "--strict", "--no-dangling") == ""


def test_two_writers_from_one_parent_both_arrive_when_their_files_differ(repository: GitRepository):
    parent = repository.head("main")
    save(repository, "source/a.md", b"A2\n", parent)
    save(repository, "source/b.md", b"B2\n", parent)
    assert content(repository, "source/a.md") == b"A2\n"
    assert content(repository, "source/b.md") == b"B2\n"


def test_two_writers_of_one_file_get_the_three_versions(repository: GitRepository):
    parent = repository.head("main")
    theirs = save(repository, "source/a.md", b"theirs\n", parent)
    with pytest.raises(EditConflict) as conflict:
        save(repository, "source/a.md", b"ours\n", parent)
    assert conflict.value.path == "source/a.md"
    assert (conflict.value.base, conflict.value.theirs) == (b"A\n", b"theirs\n")
    assert conflict.value.ours == b"ours\n"
    assert repository.head("main") == theirs


def test_a_file_deleted_meanwhile_is_a_conflict_without_their_version(repository: GitRepository):
    parent = repository.head("main")
    save(repository, "source/a.md", None, parent)
    with pytest.raises(EditConflict) as conflict:
        save(repository, "source/a.md", b"ours\n", parent)
    assert conflict.value.theirs is None


def test_the_same_edit_by_two_people_is_one_commit(repository: GitRepository):
    parent = repository.head("main")
    first = save(repository, "source/a.md", b"same\n", parent)
    assert save(repository, "source/a.md", b"same\n", parent) == first


def test_manifests_are_merged_source_by_source(repository: GitRepository):
    one, two, three = entry("a", "1", "x"), entry("b", "2", "y"), entry("c", "3", "z")
    base = save(repository, "manifest.yaml", manifest(one, two), repository.head("main"))
    save(repository, "manifest.yaml", manifest(entry("a", "9", "x", "w"), two), base)
    save(repository, "manifest.yaml", manifest(one, three), base)
    assert content(repository, "manifest.yaml") == manifest(entry("a", "9", "w", "x"), three)


def test_manifests_that_change_one_source_twice_conflict(repository: GitRepository):
    base = save(
        repository, "manifest.yaml", manifest(entry("a", "1", "x")), repository.head("main")
    )
    save(repository, "manifest.yaml", manifest(entry("a", "2", "x")), base)
    with pytest.raises(EditConflict):
        save(repository, "manifest.yaml", manifest(entry("a", "3", "x")), base)


def test_a_merge_that_would_list_a_unit_twice_conflicts(repository: GitRepository):
    base = save(repository, "manifest.yaml", manifest(entry("a", "1")), repository.head("main"))
    save(repository, "manifest.yaml", manifest(entry("a", "1"), entry("b", "2", "x")), base)
    with pytest.raises(EditConflict):
        save(repository, "manifest.yaml", manifest(entry("a", "1"), entry("c", "3", "x")), base)


def test_a_check_sees_every_attempt_and_can_refuse_it(repository: GitRepository):
    parent = repository.head("main")
    moved = save(repository, "source/b.md", b"B2\n", parent)
    seen: list[tuple[str, list[str], list[str]]] = []

    def check(head: str, changes: ChangeSet, present: Collection[str]) -> None:
        seen.append((head, list(changes.changes), list(present)))
        raise RevisionUnknown("refused")

    change_set = ChangeSet({"source/a.md": b"x", "source/new.md": b"x"})
    with pytest.raises(RevisionUnknown):
        repository.commit("main", change_set, SOMEBODY, "m", parent, check=check)
    assert seen == [(moved, ["source/a.md", "source/new.md"], ["source/a.md"])]
    assert repository.head("main") == moved


def test_eight_writers_lose_nothing(repository: GitRepository):
    writers, saves = 8, 50

    def write(writer: int) -> None:
        own = GitRepository(repository.path)
        for number in range(saves):
            data = f"{writer} {number}\n".encode()
            save(own, f"curated/domain/unit-{writer}.md", data, own.head("main"))

    before = repository.head("main")
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    commits = repository.between(before, repository.head("main"))
    assert len(commits) == writers * saves
    assert len(repository.history(repository.head("main"), after=before)) == writers * saves
    for writer in range(writers):
        assert content(repository, f"curated/domain/unit-{writer}.md") == f"{writer} 49\n".encode()
    assert git(repository.path, "fsck", "--strict", "--no-dangling") == ""


def test_without_turns_the_compare_and_swap_alone_loses_nothing(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evidence.adapters.git_turn.WAITING_S", -1.0)
    before = repository.head("main")

    def write(writer: int) -> int:
        done = 0
        for number in range(10):
            try:
                save(repository, f"source/{writer}-{number}.md", b"x\n", repository.head("main"))
            except RepositoryBusy:
                continue
            done += 1
        return done

    with ThreadPoolExecutor(4) as pool:
        acknowledged = sum(pool.map(write, range(4)))
    assert len(repository.between(before, repository.head("main"))) == acknowledged > 0


def test_a_ref_lock_of_somebody_else_is_waited_for_and_never_deleted(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evidence.adapters.git_turn.TRYING_S", 0.2)
    lock = repository.path / "refs" / "heads" / "main.lock"
    lock.touch()
    with pytest.raises(RepositoryBusy):
        save(repository, "source/a.md", b"x\n", repository.head("main"))
    assert lock.exists()
    lock.unlink()
    save(repository, "source/a.md", b"x\n", repository.head("main"))


def test_a_writer_killed_at_any_moment_leaves_a_sound_repository(repository: GitRepository):
    script = (
        "import sys; from pathlib import Path; from evidence.adapters.git import GitRepository;"
        "from evidence.domain.tree import ChangeSet; from evidence.ports import Author\n"
        "r = GitRepository(Path(sys.argv[1])); print('ready', flush=True)\n"
        "for n in range(1000):\n"
        "    c = r.commit('main', ChangeSet({f'source/k{n}.md': b'x'}), Author('k', 'k@x'), 'k',"
        " r.head('main'))\n"
        "    print(c, flush=True)\n"
    )
    for moment in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(repository.path)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        acknowledged = [process.stdout.readline() for _ in range(moment + 2)]
        process.kill()
        acknowledged += process.communicate()[0].splitlines()
        last = [line.strip().decode() for line in acknowledged if len(line.strip()) == 40][-1]
        assert last in {c.id for c in repository.between(None, repository.head("main"))}
    save(repository, "source/a.md", b"after\n", repository.head("main"))
    assert git(repository.path, "fsck", "--strict", "--no-dangling") == ""
    assert list(repository.path.rglob("*.lock")) == [repository.path / "evidence-writers.lock"]


def test_a_proposal_is_a_branch_of_its_own(repository: GitRepository):
    head = repository.head("main")
    proposal = repository.propose(
        "evidence/proposal-1", ChangeSet({"source/a.md": b"P\n"}), SOMEBODY, "Propose", head
    )
    assert repository.head("evidence/proposal-1") == proposal
    assert repository.head("main") == head
    more = ChangeSet({"source/b.md": b"Q\n"})
    edited = repository.propose("evidence/proposal-1", more, SOMEBODY, "Edit", proposal)
    assert [each.id for each in repository.between(head, edited)] == [edited, proposal]
    assert repository.head("evidence/proposal-1") == edited
    again = repository.propose("evidence/proposal-1", more, SOMEBODY, "Propose anew", head)
    assert repository.head("evidence/proposal-1") == again
    repository.drop("evidence/proposal-1")
    repository.drop("evidence/proposal-1")
    with pytest.raises(RevisionUnknown):
        repository.head("evidence/proposal-1")


def test_only_proposals_can_be_dropped(repository: GitRepository):
    with pytest.raises(ValueError, match="main"):
        repository.drop("main")


def test_a_pinned_commit_stays_reachable_until_unpinned(repository: GitRepository):
    head = repository.head("main")
    repository.pin("generations/7", head)
    assert git(repository.path, "rev-parse", "refs/evidence/generations/7") == head
    repository.unpin("generations/7")
    repository.unpin("generations/7")
    assert "generations" not in git(repository.path, "for-each-ref")


@pytest.mark.parametrize(
    "name",
    ["-x", "--output=/tmp/x", "", "main~1", "main^{tree}", "../main", "f" * 40, "HEAD", "ab"],
)
def test_a_name_that_is_no_revision_is_refused(repository: GitRepository, name: str):
    with pytest.raises(RevisionUnknown):
        repository.resolve(name)


def test_an_abbreviated_id_and_a_branch_are_resolved(repository: GitRepository):
    head = repository.head("main")
    assert repository.resolve(head[:8]) == head == repository.resolve("main")


@pytest.mark.parametrize("commit", ["main", "-x", "HEAD", "--all", "0" * 39])
def test_nothing_but_full_ids_reaches_git(repository: GitRepository, commit: str):
    for call in (
        lambda: repository.entries(commit),
        lambda: repository.history(commit),
        lambda: repository.between(None, commit),
        lambda: repository.changes(commit, commit),
        lambda: repository.blobs([commit]),
        lambda: save(repository, "source/a.md", b"x", commit),
    ):
        with pytest.raises(RevisionUnknown):
            call()


def test_a_missing_blob_is_refused(repository: GitRepository):
    with pytest.raises(RevisionUnknown):
        repository.blobs(["1" * 40])


def test_a_repository_that_is_not_there_is_a_fault_of_its_own(tmp_path: Path):
    with pytest.raises(RepositoryBroken):
        GitRepository(tmp_path / "none.git").head("main")


def test_git_that_cannot_be_started_is_a_fault(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(RepositoryBroken):
        repository.head("main")


def test_odd_names_survive_the_way_through_git(tmp_path: Path):
    names = ["evidence/source/è così.md", 'evidence/source/"q" \\ b.md', "evidence/source/a\tb.md"]
    repository = a_repository(tmp_path / "odd.git", {name: name.encode() for name in names})
    listed = {entry.path: entry.blob for entry in repository.entries(repository.head("main"))}
    assert set(listed) == set(names)
    assert repository.blobs(listed.values())[listed[names[0]]] == names[0].encode()


def test_only_the_folder_of_the_workspace_is_seen(tmp_path: Path):
    files = {
        "kb/workspace.yaml": b"w",
        "kb/evidence/source/a.md": b"A",
        "kb/other.md": b"o",
        "kb2/workspace.yaml": b"w2",
    }
    repository = a_repository(tmp_path / "f.git", files, folder="kb")
    head = repository.head("main")
    assert [e.path for e in repository.entries(head)] == ["evidence/source/a.md", "workspace.yaml"]
    after = save(repository, "source/a.md", b"A2", head)
    assert [change.path for change in repository.changes(head, after)] == ["evidence/source/a.md"]
    assert git(repository.path, "show", f"{after}:kb/evidence/source/a.md") == "A2"
    assert git(repository.path, "show", f"{after}:kb/other.md") == "o"


def test_entries_know_their_size_and_mode(repository: GitRepository):
    sizes = {e.path: (e.mode, e.size) for e in repository.entries(repository.head("main"))}
    assert sizes["evidence/source/a.md"] == ("100644", 2)


def test_a_branch_of_a_local_repository_is_imported_alone(tmp_path: Path):
    work = tmp_path / "work"
    work.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(work)], check=True)
    (work / "workspace.yaml").write_text("w")
    git(work / ".git", "--work-tree", str(work), "add", ".")
    git(work / ".git", "-c", "user.name=a", "-c", "user.email=a@x", "commit", "-qm", "one")
    git(work / ".git", "branch", "other")
    git(work / ".git", "tag", "v1")
    bare = tmp_path / "bare.git"
    assert git_creation.import_branch(work, bare) == "trunk"
    assert git(bare, "for-each-ref", "--format=%(refname)") == "refs/heads/trunk"
    assert git(bare, "remote") == ""
    head = GitRepository(bare).head("trunk")
    assert git_creation.workspace_folders(bare, head) == ("",)


@pytest.mark.parametrize("branch", [None, "missing", "-x"])
def test_what_cannot_be_imported_is_said(tmp_path: Path, branch: str | None):
    (tmp_path / "plain").mkdir()
    with pytest.raises(git_creation.NothingToImport):
        git_creation.import_branch(tmp_path / "plain", tmp_path / "bare.git", branch=branch)


def test_a_message_is_stored_without_what_git_cannot_hold():
    assert git_import.clean("a\0b\udc80 \n") == "ab?\n"


def test_a_writer_that_hangs_holds_nobody_up_for_ever(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evidence.adapters.git_turn.WAITING_S", 0.1)
    lock = repository.path / "evidence-writers.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        save(repository, "source/a.md", b"x\n", repository.head("main"))
    save(repository, "source/a.md", b"y\n", repository.head("main"))


def test_a_commit_made_elsewhere_with_odd_words_is_still_read(repository: GitRepository):
    head = repository.head("main")
    odd = (
        b"commit refs/heads/main\nmark :1\nauthor J\xf6rg <j@x> 99999999999999 +0000\n"
        b"committer J <j@x> 1700000000 +0000\ndata 6\nA\xff\n\nB\x01\n"
        b"from " + head.encode() + b"\nM 100644 inline evidence/source/\xff.md\ndata 1\nx\n"
        b"get-mark :1\ndone\n"
    )
    made = git_process.output(
        repository.path,
        "fast-import",
        "--quiet",
        "--done",
        "--date-format=raw-permissive",
        stdin=odd,
    )
    (commit,) = repository.history(made.decode().strip(), after=head)
    assert commit.author.name == "J\ufffdrg"
    assert commit.at.year == 9999
    assert commit.message == "A\ufffd\n\nB\x01"
    assert "evidence/source/\udcff.md" in {e.path for e in repository.entries(commit.id)}


def put_at(repository: GitRepository, day: int, files: dict[str, bytes | None]) -> str:
    """Commit on main behind the portal's back, as written at noon of a day in January 2026."""
    head = git(repository.path, "rev-parse", "main")
    commit = git_import.write_commit(
        repository.path,
        files,
        parent=head,
        words=git_import.Words(
            git_import.People(SOMEBODY, COMMITTER), datetime(2026, 1, day, 12, tzinfo=UTC), "x"
        ),
    )
    git(repository.path, "update-ref", "refs/heads/main", commit)
    return commit


def days(changes: Mapping[str, datetime]) -> dict[str, int]:
    return {path: at.day for path, at in changes.items()}


def test_the_last_change_of_each_unit_is_known_by_its_path(repository: GitRepository):
    a, b = "evidence/curated/glossary/a.md", "evidence/curated/glossary/è.md"
    first = put_at(repository, 5, {a: b"1", b: b"1", "evidence/source/a.md": b"x"})
    put_at(repository, 9, {a: b"2"})
    put_at(repository, 3, {a: b"1"})
    head = put_at(repository, 12, {b: None})
    names = ("curated/glossary/a.md", "curated/glossary/è.md")
    assert days(repository.last_changes(head)) == dict(zip(names, (3, 12), strict=True))
    assert days(repository.last_changes(first)) == dict.fromkeys(names, 5)
    assert days(repository.last_changes(head, after=first)) == {names[0]: 3, names[1]: 12}
    assert repository.last_changes(head, after=head) == {}


def test_what_a_merge_brought_was_changed_by_the_merge(repository: GitRepository):
    name = "evidence/curated/glossary/a.md"
    base = put_at(repository, 5, {name: b"1"})
    side = put_at(repository, 7, {name: b"2"})
    git(repository.path, "update-ref", "refs/heads/main", base)
    main = put_at(repository, 8, {"evidence/source/a.md": b"x"})
    tree = git(repository.path, "merge-tree", "--write-tree", main, side)
    identity = ("-c", "user.name=x", "-c", "user.email=x@x")
    merge = git(
        repository.path, *identity, "commit-tree", tree, "-p", main, "-p", side, "-m", "Merge"
    )
    merged_at = int(git(repository.path, "log", "-1", "--format=%at", merge))
    for changes in (repository.last_changes(merge, after=main), repository.last_changes(merge)):
        assert changes["curated/glossary/a.md"].timestamp() == merged_at


def test_each_commit_is_known_by_the_units_it_changed_itself(repository: GitRepository):
    a, b = "evidence/curated/glossary/a.md", "evidence/curated/glossary/è.md"
    base = put_at(repository, 5, {a: b"1", b: b"1"})
    side = put_at(repository, 7, {b: b"2", "evidence/source/a.md": b"x"})
    git(repository.path, "update-ref", "refs/heads/main", base)
    main = put_at(repository, 8, {a: None})
    tree = git(repository.path, "merge-tree", "--write-tree", main, side)
    identity = ("-c", "user.name=x", "-c", "user.email=x@x")
    merge = git(
        repository.path, *identity, "commit-tree", tree, "-p", main, "-p", side, "-m", "Merge"
    )
    paths = {main: ("curated/glossary/a.md",), side: ("curated/glossary/è.md",)}
    assert repository.touched(base, merge) == paths
    assert set(repository.touched(None, merge)) == {base, main, side}
    assert repository.touched(merge, merge) == {}
