"""What a save costs beside the plain plumbing of Git, alone, among eight editors, and with age.

The plumbing does the same with a private index (`read-tree`, `hash-object`, `update-index`,
`write-tree`, `commit-tree`, `update-ref`). What a commit was made by before stands beside
it: a listing, a difference when the branch moved, `fast-import`, `update-ref`, in turns as well.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from bench.measured import Measured, Several, seconds, side_by_side
from evidence import curation, mirror, plugged
from evidence.adapters import git_process
from evidence.adapters.git import GitRepository
from evidence.adapters.git_turn import Turn
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.tree import ChangeSet
from tests.makers import (
    CURATOR,
    NOON,
    SOMEBODY,
    a_corpus,
    a_numbered_unit,
    a_repository,
    a_workspace,
    sentence,
    unit_file,
)

FILES: Final = 100
ROUNDS: Final = 40
EDITORS: Final = 8
SAVES: Final = 25
YOUNG, OLD = 10, 1_600
UNITS: Final = {"few": 100, "many": 10_000}
UNITS_A_SOURCE: Final = 10
WHO: Final = f"{SOMEBODY.name} <{SOMEBODY.email}> {int(NOON.timestamp())} +0000"
Way = Callable[[Path, str, bytes], bool]
"""Saves these bytes as this file below `evidence/` of `main`; False when the branch moved."""


def measure() -> Several:
    """Compare a commit with the plumbing's, then a whole save early and late, small and large."""
    with tempfile.TemporaryDirectory(prefix="saves-") as folder:
        home = Path(folder)
        return Several(
            (
                _alone(home / "index.git", "six plain processes", by_index, target=1),
                _alone(home / "import.git", "fast-import (before)", by_fast_import, target=1),
                *_among_editors(home),
                _aged(home),
                _in_a_large_workspace(),
            )
        )


def by_us(path: Path, name: str, data: bytes) -> bool:
    """Commit as the portal does."""
    repository = GitRepository(path)
    change = ChangeSet({name: data})
    repository.commit("main", change, SOMEBODY, "Edit", repository.head("main"))
    return True


def by_index(path: Path, name: str, data: bytes) -> bool:
    """Commit with an index of its own and compare-and-swap, by Git's own commands."""
    with tempfile.TemporaryDirectory(dir=path) as folder:
        run = partial(_run, path, index=f"{folder}/index")
        parent = _head(path)
        run("read-tree", parent)
        blob = run("hash-object", "-w", "--stdin", stdin=data)
        run("update-index", "--add", "--cacheinfo", f"100644,{blob},{EVIDENCE_FOLDER}{name}")
        commit = run("commit-tree", run("write-tree"), "-p", parent, stdin=b"Edit\n")
    return _moved(path, commit, parent)


def by_fast_import(path: Path, name: str, data: bytes) -> bool:
    """Commit as the portal did before: five or six processes, the importer and its child."""
    opened = _head(path)
    file = EVIDENCE_FOLDER + name
    with Turn(path / "evidence-writers.lock"):
        parent = _head(path)
        if parent != opened:
            _run(path, "diff-tree", "-r", "-z", "--raw", opened, parent)
        _run(path, "ls-tree", "-z", "-l", "--full-tree", parent, "--", file)
        lines = (
            b"commit refs/evidence/incoming\nmark :1",
            f"committer {WHO}\ndata 5\nEdit\nfrom {parent}".encode(),
            b"M 100644 inline %s\ndata %d\n%s" % (file.encode(), len(data), data),
            b"\nreset refs/evidence/incoming\n\nget-mark :1\ndone\n",
        )
        commit = _run(path, "fast-import", "--quiet", "--done", stdin=b"\n".join(lines))
        return _moved(path, commit, parent)


def _alone(path: Path, name: str, way: Way, *, target: float) -> Measured:
    _repository(path)
    works = {name: partial(_timed, path, way), "a commit": partial(_timed, path, by_us)}
    return side_by_side(f"a commit and {name}", works, rounds=ROUNDS, target=target)


def _among_editors(home: Path) -> tuple[Measured, ...]:
    """Let eight save at once, each a file of his own."""
    took = {}
    for name, way in (("fast-import (before)", by_fast_import), ("a commit", by_us)):
        path = home / f"{EDITORS}-{name}.git"
        _repository(path)
        with ThreadPoolExecutor(EDITORS) as pool:
            days = pool.map(partial(_day, path, way), range(EDITORS))
            took[name] = sorted(each for day in days for each in day)
    first, second = took.values()
    last = int(0.99 * EDITORS * SAVES)
    middle = statistics.median(first), statistics.median(second)
    return (
        Measured(f"{EDITORS} editors: median", ("before", "a commit"), middle, 1),
        Measured(
            f"{EDITORS} editors: p99",
            ("before", "a commit"),
            (first[last], second[last]),
            1,
        ),
    )


def _day(path: Path, way: Way, editor: int) -> list[float]:
    save = partial(_until_saved, path, way, editor)
    return [seconds(partial(save, turn)) for turn in range(SAVES)]


def _until_saved(path: Path, way: Way, editor: int, turn: int) -> None:
    while not way(path, f"source/f{editor}.md", f"{editor} {turn}\n".encode()):
        pass


def _aged(home: Path) -> Measured:
    """Compare a commit after ten with one after 1,600, packed now and then as the portal does."""
    young, old = home / "young.git", home / "old.git"
    for path, age in ((young, YOUNG), (old, OLD)):
        _repository(path)
        for turn in range(age):
            by_us(path, f"source/f{turn % FILES}.md", f"older {turn}\n".encode())
            if turn % 200 == 0:
                GitRepository(path).pack()
    works = {
        f"after {YOUNG}": partial(_timed, young, by_us),
        f"after {OLD:,}": partial(_timed, old, by_us),
    }
    return side_by_side("a commit after others", works, rounds=ROUNDS, target=1.3)


def _in_a_large_workspace() -> Measured:
    for slug, units in UNITS.items():
        a_workspace(a_corpus(units, slug=slug, units_a_source=UNITS_A_SOURCE), slug=slug)
        mirror.sync_workspace(slug)
    works = {f"{units:,} units": partial(_save, slug) for slug, units in UNITS.items()}
    return side_by_side("a whole save, mirror included", works, rounds=ROUNDS // 2, target=3)


def _save(slug: str, turn: int) -> float:
    text = "".join(map(sentence, range(UNITS_A_SOURCE)))
    unit = a_numbered_unit(3, source="source/nota-0.md", text=text, title=f"Titolo {turn}")
    path, data = unit_file(unit)
    repository = plugged.repository(slug)
    entry = repository.entry(repository.head("main"), EVIDENCE_FOLDER + path)
    save = partial(
        curation.save_file,
        workspace=slug,
        path=path,
        text=data.decode(),
        blob=entry.blob if entry else "",
        author=CURATOR,
    )
    return seconds(save)


def _timed(path: Path, way: Way, turn: int) -> float:
    return seconds(lambda: way(path, f"source/f{turn % FILES}.md", f"{way} {turn}\n".encode()))


def _repository(path: Path) -> None:
    files = {f"{EVIDENCE_FOLDER}source/f{number}.md": b"" for number in range(FILES)}
    a_repository(path, {"workspace.yaml": b"w", **files})


def _head(path: Path) -> str:
    return _run(path, "show-ref", "--verify", "--hash", "--", "refs/heads/main")


def _moved(path: Path, new: str, old: str) -> bool:
    return not git_process.run(path, "update-ref", "refs/heads/main", new, old).code


def _run(path: Path, *arguments: str, stdin: bytes = b"", index: str = "") -> str:
    """Run Git with the portal's own settings, so that both sides write as durably."""
    settings = [part for setting in git_process.SETTINGS for part in ("-c", setting)]
    people = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", SOMEBODY.name), ("EMAIL", SOMEBODY.email))
    }
    done = subprocess.run(
        ["git", *settings, f"--git-dir={path}", *arguments],
        input=stdin,
        capture_output=True,
        check=True,
        env={
            **git_process.environment(),
            **people,
            **({"GIT_INDEX_FILE": index} if index else {}),
        },
    )
    return done.stdout.decode().strip()
