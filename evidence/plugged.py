"""What is plugged into the ports of this process: steps ask here, wiring fills it at start.

Steps lie below the adapters, yet an admin page says only `curation.retire(workspace=…)`; so how to
open a repository is handed down once, when Django starts, and not through every call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evidence.faults import OperatorFault
from evidence.messages import gettext_noop
from evidence.ports import AnswerCache, Memories, Repository, Restructurer, Usage


class NothingPlugged(OperatorFault):
    """A step ran before Django's applications were ready."""

    code = "nothing_plugged"


@dataclass(frozen=True, slots=True)
class Plugs:
    """How to open the repository of a workspace and a restructurer, by name, and what is kept."""

    repository: Callable[[str], Repository]
    restructurer: Callable[[str], Restructurer]
    answer_cache: Callable[[], AnswerCache]
    memories: Callable[[], Memories]


_filled: list[Plugs] = []
_usage: list[Usage] = []


def fill(plugs: Plugs) -> None:
    """Put the adapters in; the last call counts."""
    _filled[:] = [plugs]


def fill_usage(found: Usage) -> None:
    """Put in who knows the use of units; the last call counts."""
    _usage[:] = [found]


def usage() -> Usage | None:
    """Give who knows the use of units, or None where a process has nobody who does."""
    return _usage[0] if _usage else None


def repository(slug: str) -> Repository:
    """Open the repository of a workspace. Raises `WorkspaceUnknown` through its opener."""
    return _plugs().repository(slug)


def restructurer(name: str) -> Restructurer:
    """Open a restructurer by the name an operator gave it."""
    return _plugs().restructurer(name)


def answer_cache() -> AnswerCache:
    """Open the cache of answers that were paid for."""
    return _plugs().answer_cache()


def memories() -> Memories:
    """Open what earlier preparations found out about the files of workspaces."""
    return _plugs().memories()


def _plugs() -> Plugs:
    if not _filled:
        raise NothingPlugged(gettext_noop("The portal is not started yet."))
    return _filled[0]
