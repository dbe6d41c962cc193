"""The adapters that need no Django: a work tree on disk, and the restructurers by name."""

from __future__ import annotations

from pathlib import Path

from evidence import environment
from evidence.adapters.answer_cache import FileAnswerCache
from evidence.adapters.memory_file import FileMemories
from evidence.adapters.new_files import write_new_files
from evidence.adapters.pi import PiRestructurer
from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.adapters.worktree import WorkTree, open_work_tree
from evidence.domain.paths import SOURCE_FOLDER
from evidence.domain.tree import ChangeSet
from evidence.environment import EvidenceEnv, PiSettings
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import AnswerCache, Restructurer


class RestructurerUnknown(OperatorFault):
    """A name that this portal has no restructurer for."""

    code = "restructurer_unknown"
    hint = gettext_noop("Known: rules, pi.")


def settings() -> EvidenceEnv:
    """Read the settings of this process. Raises `SettingInvalid`."""
    return environment.load(EvidenceEnv, {})


def restructurer(name: str, *, pi: PiSettings, home: Path) -> Restructurer:
    """Open a restructurer by name; what a model said goes below `home`.

    Raises `RestructurerUnknown`.
    """
    if name == RulesRestructurer.name:
        return RulesRestructurer()
    if name == PiRestructurer.name:
        return PiRestructurer(pi, debug=home / "debug")
    message = Message(gettext_noop("There is no restructurer “%(name)s”."), name=name)
    raise RestructurerUnknown(message)


def answer_cache(home: Path) -> AnswerCache:
    """Open the cache of answers that were paid for (spec 20, Preparation, step 2)."""
    return FileAnswerCache(home / "cache" / "restructuring")


def memories(home: Path) -> FileMemories:
    """Open what earlier preparations of folders found out about their files."""
    return FileMemories(home / "cache" / "inspections")


def work_tree(root: Path) -> WorkTree:
    """Open the work tree around a workspace folder. Raises `UnsafePath`."""
    return open_work_tree(root)


def add_sources(tree: WorkTree, change_set: ChangeSet) -> None:
    """Write the new sources of a change set; what is applied as one set does not hold them.

    Raises `UnsafePath`, `WorkTreeUnwritable`.
    """
    new = {path: data for path, data in change_set.changes.items() if data is not None}
    sources = {path: data for path, data in new.items() if path.startswith(SOURCE_FOLDER)}
    write_new_files(tree.root / "evidence", sources)
