"""The adapters that need no Django: a work tree on disk, and the restructurers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.adapters.worktree import WorkTree, open_work_tree
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.ports import Restructurer

RESTRUCTURERS: Mapping[str, Callable[[], Restructurer]] = MappingProxyType(
    {"rules": RulesRestructurer}
)


class RestructurerUnknown(OperatorFault):
    """A name that this portal has no restructurer for."""

    code = "restructurer_unknown"
    hint = gettext_noop("Known: rules.")


def restructurer(name: str) -> Restructurer:
    """Open a restructurer by name. Raises `RestructurerUnknown`."""
    if name not in RESTRUCTURERS:
        message = Message(gettext_noop("There is no restructurer “%(name)s”."), name=name)
        raise RestructurerUnknown(message)
    return RESTRUCTURERS[name]()


def work_tree(root: Path) -> WorkTree:
    """Open the work tree around a workspace folder. Raises `UnsafePath`."""
    return open_work_tree(root)
