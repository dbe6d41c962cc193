"""Writers that are killed inside a save, as the portal saves or with a bug, and what is left.

Run as `python -m tests.robustness.killed_writers <repository> <name> <way>`: saves for ever and
prints each commit as soon as it is promised.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evidence.adapters import git_commit, git_import, git_pack, git_process
from evidence.adapters.git import GitRepository
from evidence.adapters.git_pack import Made
from evidence.adapters.git_turn import Turn
from evidence.domain.tree import ChangeSet
from evidence.ports import Author

WRITERS: Final = ("left", "right")
LONGEST_S: Final = 0.05
SLOW_S: Final = 0.02
"""How long a seeded bug leaves its gap open, so that a kill or the other writer falls into it."""
_CHECKOUT: Final = Path(__file__).parents[2]


def save_for_ever(repository: GitRepository, name: str) -> None:
    for number in range(10_000):
        change = ChangeSet({f"source/{name}{number % 7}.md": f"{name} {number}\n".encode()})
        author = Author(name, f"{name}@example.org")
        head = repository.head("main")
        print(repository.commit("main", change, author, "Edit", head), flush=True)


def ref_first(directory: Path, objects: tuple[Made, ...]) -> None:
    """Let the branch name the commit before its objects are complete: a seeded bug."""
    (directory / "refs" / "heads" / "main").write_text(f"{objects[-1].id.hex()}\n")
    time.sleep(SLOW_S)
    git_pack.store(directory, objects)


def without_comparing(directory: Path, branch: str, new: str, old: str) -> bool:
    """Move the branch, whatever it says by now: a seeded bug."""
    del old
    time.sleep(SLOW_S)
    git_process.output(directory, "update-ref", f"refs/heads/{branch}", new)
    return True


class NoTurn(Turn):
    """Lets everybody in at once: correctness may not rest on the lock."""

    def __enter__(self) -> NoTurn:
        self._began = time.monotonic()
        return self


WAYS: Final[dict[str, tuple[tuple[object, str, object], ...]]] = {
    "as the portal does": (),
    "without turns": ((git_commit, "Turn", NoTurn),),
    "ref first": ((git_import, "store", ref_first),),
    "without comparing": ((git_commit, "Turn", NoTurn), (git_commit, "_swap", without_comparing)),
}
"""What a writer has instead of which part of ours; the first two must be sound."""


@dataclass(slots=True)
class Wreck:
    """How many promised commits are gone or were never made, and whether Git finds all whole."""

    kills: int = 0
    torn: int = 0
    clean: bool = True

    def __str__(self) -> str:
        fsck = "clean" if self.clean else "NOT clean"
        return f"{self.kills} kills: {self.torn} torn, fsck {fsck}"

    @property
    def is_sound(self) -> bool:
        return not self.torn and self.clean


def kill_writers(path: Path, *, rounds: int, way: str) -> Wreck:
    """Let two writers save side by side and kill both, again and again; stop at the first loss."""
    wreck = Wreck()
    for turn in range(rounds):
        promised = _killed(path, way, random.Random(turn))  # noqa: S311
        wreck.kills += len(WRITERS)
        reachable = _reachable(path)
        wreck.torn += sum(last not in reachable for last in promised)
        if wreck.torn:
            break
    wreck.clean = not _git(path, "fsck", "--strict", "--no-dangling").returncode
    return wreck


def _killed(path: Path, way: str, chance: random.Random) -> list[str]:
    """Give the last promise of each writer; one that never came to a save promised nothing good."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(path), name, way],
            cwd=_CHECKOUT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for name in WRITERS
    ]
    began = [writer.stdout.readline() for writer in writers if writer.stdout]
    time.sleep(chance.uniform(0, LONGEST_S))
    for writer in writers:
        writer.kill()
    rest = [writer.communicate()[0] for writer in writers]
    return [_last(first + more) for first, more in zip(began, rest, strict=True)]


def _last(printed: bytes) -> str:
    lines = [line for line in printed.decode().split("\n")[:-1] if len(line) == 40]
    return lines[-1] if lines else "nothing"


def _reachable(path: Path) -> set[str]:
    return set(_git(path, "rev-list", "main").stdout.decode().split())


def _git(path: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Ask plain Git, the oracle."""
    return subprocess.run(
        ["git", f"--git-dir={path}", *arguments],
        check=False,
        capture_output=True,
        env=git_process.environment(),
    )


def main(path: str, name: str, way: str) -> None:
    for module, part, other in WAYS[way]:
        setattr(module, part, other)
    save_for_ever(GitRepository(Path(path)), name)


if __name__ == "__main__":
    main(*sys.argv[1:])
