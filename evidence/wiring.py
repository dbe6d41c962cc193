"""The only place that knows which adapter stands behind each port of evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evidence import conf, plugged
from evidence.adapters.git import GitRepository
from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.models import Workspace
from evidence.ports import Repository, Restructurer


RESTRUCTURERS: Mapping[str, Callable[[], Restructurer]] = {"rules": RulesRestructurer}


class RestructurerUnknown(OperatorFault):
    """A name that this portal has no restructurer for."""

    code = "restructurer_unknown"
    hint = gettext_noop("Known: rules.")


def repository(slug: str) -> Repository:
    """Open the repository of a registered workspace. Raises `WorkspaceUnknown`."""
    workspace = Workspace.named(slug)
    return GitRepository(conf.current().repository_path(slug), folder=workspace.folder)


def restructurer(name: str) -> Restructurer:
    """Open a restructurer by name. Raises `RestructurerUnknown`."""
    if name not in RESTRUCTURERS:
        message = Message(gettext_noop("There is no restructurer “%(name)s”."), name=name)
        raise RestructurerUnknown(message)
    return RESTRUCTURERS[name]()


def plug_in() -> None:
    """Hand the adapters down to the steps; called once, when Django is ready."""
    plugged.fill(plugged.Plugs(repository=repository, restructurer=restructurer))
