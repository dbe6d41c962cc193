"""`tht workspace add | list | sync`: registered workspaces at the terminal (spec 70)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from django.utils.translation import gettext as _

from evidence import console, mirror, overview, registration
from evidence.mirror import SyncReport

workspace_app = console.command_line("Register, list and synchronize workspaces.")


@workspace_app.callback()
def workspace() -> None:
    """Register, list and synchronize workspaces."""


@workspace_app.command(cls=console.OnceCommand)
def add(
    source: Annotated[
        str, typer.Argument(metavar="PATH", help="A local Git repository; it is copied.")
    ],
    *,
    folder: Annotated[
        str | None, typer.Option("--folder", help="The folder that holds workspace.yaml.")
    ] = None,
    branch: Annotated[
        str | None, typer.Option("--branch", help="The branch to follow; default: the current.")
    ] = None,
    single_approver: Annotated[
        bool, typer.Option("--single-approver", help="Authors may approve their own work.")
    ] = False,
    json_output: console.JsonOption = False,
) -> None:
    """Register a workspace and mirror it.

    Example: tht workspace add ~/knowledge --folder clinica
    """
    report = registration.add(
        source=source, folder=folder, branch=branch, single_approver=single_approver
    )
    _show(report, json_output=json_output)


@workspace_app.command("list", cls=console.OnceCommand)
def show(*, json_output: console.JsonOption = False) -> None:
    """List the registered workspaces and where each stands.

    Example: tht workspace list --json
    """
    summaries = overview.workspaces()
    if json_output:
        console.print_json(
            [
                asdict(each)
                | {"mirrored_at": each.mirrored_at.isoformat() if each.mirrored_at else None}
                for each in summaries
            ]
        )
        return
    headings = (
        *(_("Slug"), _("Title"), _("Revision"), _("Units"), _("Notes that wait")),
        *(_("Open review items"), _("Orphans"), _("Errors")),
    )
    console.print_table(
        _("Workspaces"),
        headings,
        (
            (
                each.slug,
                each.title,
                each.head[:12],
                each.units,
                each.waiting,
                each.open_items,
                each.orphans,
                each.errors,
            )
            for each in summaries
        ),
    )


@workspace_app.command(cls=console.OnceCommand)
def sync(
    slug: Annotated[str, typer.Argument(help="The workspace's slug.")],
    *,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make all mirror rows again from nothing.")
    ] = False,
    json_output: console.JsonOption = False,
) -> None:
    """Mirror what arrived in the repository.

    Example: tht workspace sync clinica-demo --rebuild
    """
    _show(mirror.sync_workspace(slug, rebuild=rebuild), json_output=json_output)


def _show(report: SyncReport, *, json_output: bool) -> None:
    if json_output:
        console.print_json(report.as_json())
    else:
        rows = (
            (_("Revision"), report.head[:12]),
            (_("Files looked at"), report.files),
            (_("Errors"), report.errors),
            (_("Warnings"), report.warnings),
            (_("Open review items"), report.open_review_items),
            (_("Orphans"), report.orphans),
            (_("Can be published"), _("yes") if report.publishable else _("no")),
        )
        console.print_table(report.workspace, (_("What"), _("Value")), rows)
