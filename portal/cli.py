"""`tht`: one command line for people and programs, put together from the packages' commands.

A group is imported when it is asked for: `tht evidence validate` needs no Django, no database and
no settings, and starts at once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.exceptions import TyperException
from typer.main import get_command as as_command

from evidence.console import FAILED, Door, report_fault
from evidence.faults import Fault, OperatorFault
from evidence.messages import Message, gettext_noop

logger = logging.getLogger(__name__)

DATABASE_ERRORS: Final = "django.db.utils"
"""Where Django's database errors live; `tht evidence validate` never imports it."""


class DatabaseUnavailable(OperatorFault):
    """The database is locked, gone, damaged, or older than this portal."""

    code = "database_unavailable"
    hint = gettext_noop("Try again; after an update of the portal, run `manage.py migrate` first.")


class Unforeseen(OperatorFault):
    """Something broke that has no name yet; the traceback is on stderr."""

    code = "internal_error"


class Mounted(NamedTuple):
    """Where a group or command lives, what it is for, and whether it works on the folder alone."""

    module: str
    app: str
    help: str
    needs_django: bool = True


GROUPS: Final[Mapping[str, Mounted]] = {
    "workspace": Mounted("evidence.workspace_commands", "workspace_app", "Register and sync."),
    "evidence": Mounted(__name__, "evidence_app", "Prepare, validate, resolve, evaluate.", False),
    "publish": Mounted("publishing.commands", "publish_app", "Approve, rehearse, roll back."),
    "search": Mounted("search_api.commands", "search_app", "Ask a question."),
    "keys": Mounted("search_api.commands", "keys_app", "Create and revoke API keys."),
    "mcp": Mounted("search_api.mcp", "mcp_app", "Serve an agent over stdio."),
    "vector": Mounted("publishing.commands", "vector_app", "Look into the vector store."),
    "config": Mounted("portal.commands", "config_app", "Show every setting in force."),
    "demo": Mounted("portal.commands", "demo_app", "Load, prepare and publish the demo."),
    "serve": Mounted("portal.commands", "serve_app", "Start web, worker and broker."),
}
FOLDER: Final = Mounted("evidence.commands", "evidence_app", "Work on a folder alone.", False)
EVALUATE: Final = Mounted("publishing.commands", "evaluate_app", "Run the exam of a generation.")


def load(mounted: Mounted) -> Any:
    """Import a group or command, with Django set up where it needs it."""
    if mounted.needs_django:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
        import_module("django").setup()
    return as_command(getattr(import_module(mounted.module), mounted.app))


class EvidenceGroup(Door):
    """The commands on a folder, and `evaluate`, which alone needs the database."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name `evaluate` beside the others."""
        return [*load(FOLDER).list_commands(ctx), "evaluate"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import what is asked for."""
        if cmd_name == "evaluate":
            return load(EVALUATE)
        return load(FOLDER).get_command(ctx, cmd_name)


class Tht(Door):
    """The groups of `GROUPS`, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the groups in the order people meet them."""
        return list(GROUPS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one group; None when there is none of that name."""
        mounted = GROUPS.get(cmd_name)
        if mounted is None:
            return None
        command = load(mounted)
        command.name = cmd_name
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run a group; what nobody foresaw ends as every fault does, and stderr has the rest."""
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, TyperException, BrokenPipeError):
            raise
        except Exception as error:
            report_fault(_fault_of(error), as_json=as_json)
            raise typer.Exit(FAILED) from error


def _fault_of(error: Exception) -> Fault:
    if type(error).__module__ == DATABASE_ERRORS:
        template = gettext_noop("The database does not answer: %(reason)s.")
        return DatabaseUnavailable(Message(template, reason=error))
    logger.error("Unforeseen error in a command", exc_info=error)
    return Unforeseen(
        Message(gettext_noop("Something is wrong here: %(kind)s."), kind=type(error).__name__)
    )


evidence_app = typer.Typer(cls=EvidenceGroup, no_args_is_help=True, add_completion=False)


@evidence_app.callback()
def evidence() -> None:
    """Prepare, validate and resolve a folder of notes; evaluate what is published."""


app = typer.Typer(cls=Tht, no_args_is_help=True, add_completion=False)


@app.callback()
def tht() -> None:
    """Curate, publish and search the knowledge behind questions that become SQL."""


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
