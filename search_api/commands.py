"""`tht search` and `tht keys`: the same answers and keys as the API's, at the terminal."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated, Any

import typer
from django.utils import timezone

from evidence import overview
from evidence.console import (
    DONE,
    FAILED,
    JsonOption,
    OnceCommand,
    command_line,
    print_json,
    print_table,
)
from evidence.domain.units import EvidenceKind, EvidencePurpose
from publishing import retrieval
from search_api import answers, keys
from search_api.models import ApiKey, KeyRole
from search_api.schemas import Outcome, SearchAvailable

search_app = command_line("Ask the published evidence.")
keys_app = command_line("API keys: make, show, rotate, revoke.")

Prefix = Annotated[str, typer.Argument(help="The part of a key between `tht_` and its secret.")]
Expires = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="From this moment on the key is refused."
    ),
]


@search_app.callback()
def search_group() -> None:
    """Keep `find` a command of its own, though it is the only one."""


@search_app.command("find", cls=OnceCommand)
def find(
    question: str,
    workspace: Annotated[str, typer.Option(help="Slug of the workspace.")],
    purpose: Annotated[EvidencePurpose, typer.Option(help="What the answer is for.")],
    kind: Annotated[EvidenceKind | None, typer.Option(help="Only units of this kind.")] = None,
    top: Annotated[int, typer.Option(help="How many units at most.", min=1, max=10)] = 10,
    *,
    as_json: JsonOption = False,
) -> None:
    """Ask: tht search find "Che cos'è un ricovero?" --workspace w --purpose rewriting."""
    overview.workspace(workspace)  # the API tells nobody which slugs exist; an operator may know
    asked = {"query": question, "purpose": purpose, "top_n": top}
    narrowed = {"context": {"required_kinds": [kind]}} if kind else {}
    outcome = answers.search(workspace, retrieval.build_request(asked | narrowed))
    if as_json:
        print_json(outcome.model_dump(mode="json"))
    else:
        _show(outcome)
    raise typer.Exit(DONE if isinstance(outcome, SearchAvailable) else FAILED)


def _show(outcome: Outcome) -> None:
    if not isinstance(outcome, SearchAvailable):
        typer.secho(f"Unavailable ({outcome.code}): {outcome.message}", err=True, fg="red")
        return
    rows = [
        (f"{unit.score:.3f}", unit.kind.value, unit.title, unit.evidence_id)
        for unit in outcome.results
    ]
    title = f"{len(rows)} units, {outcome.confidence}, revision {outcome.workspace_revision[:12]}"
    print_table(title, ("Score", "Kind", "Title", "Id"), rows)


@keys_app.command("create", cls=OnceCommand)
def create(
    workspace: Annotated[list[str], typer.Option(help="Slug; may be given for several.")],
    role: Annotated[KeyRole, typer.Option(help="A reader asks; a writer also leaves receipts.")],
    expires: Expires = None,
    label: Annotated[str, typer.Option(help="Who uses it.")] = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """Make a key and show it, this once: tht keys create --workspace w --role reader."""
    for slug in workspace:
        overview.workspace(slug)  # refuses a slug that is not registered: such a key opens nothing
    new = keys.create(
        workspaces=workspace,
        role=role,
        now=timezone.now(),
        label=label,
        expires_at=timezone.make_aware(expires) if expires else None,
    )
    _reveal(new, as_json=as_json)


def _reveal(new: keys.NewKey, *, as_json: bool) -> None:
    if as_json:
        print_json({"key": new.token} | _rights(new.row))
        return
    typer.echo(new.token)
    typer.secho("It is shown this once; keep it now.", err=True, fg="yellow")


@keys_app.command("list", cls=OnceCommand)
def list_keys(*, as_json: JsonOption = False) -> None:
    """Show every key without its secret: tht keys list."""
    rows = keys.listed()
    if as_json:
        print_json({"keys": [_rights(row) | _life(row) for row in rows]})
        return
    headings = ("Prefix", "Role", "Workspaces", "Label", "Expires", "Revoked", "Last used")
    print_table("API keys", headings, map(_cells, rows))


@keys_app.command("rotate", cls=OnceCommand)
def rotate(prefix: Prefix, *, as_json: JsonOption = False) -> None:
    """Make a successor; the old key works one more day: tht keys rotate 3f9k2m1x."""
    _reveal(keys.rotate(prefix=prefix, now=timezone.now()), as_json=as_json)


@keys_app.command("revoke", cls=OnceCommand)
def revoke(prefix: Prefix, *, as_json: JsonOption = False) -> None:
    """End a key at once: tht keys revoke 3f9k2m1x."""
    row = keys.revoke(prefix=prefix, now=timezone.now())
    if as_json:
        print_json(_rights(row) | _life(row))
        return
    typer.echo(f"The key {row.prefix} is refused from now on.", file=sys.stderr)


def _rights(row: ApiKey) -> dict[str, Any]:
    return {
        "prefix": row.prefix,
        "role": row.role,
        "workspaces": row.workspaces,
        "expires_at": _instant(row.expires_at),
    }


def _life(row: ApiKey) -> dict[str, Any]:
    return {
        "label": row.label,
        "created_at": _instant(row.created_at),
        "revoked_at": _instant(row.revoked_at),
        "last_used_at": _instant(row.last_used_at),
    }


def _instant(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _cells(row: ApiKey) -> tuple[str, ...]:
    times = (row.expires_at, row.revoked_at, row.last_used_at)
    shown = (timezone.localtime(at).strftime("%Y-%m-%d %H:%M") if at else "—" for at in times)
    return (row.prefix, row.role, ", ".join(row.workspaces), row.label, *shown)
