"""`tht config`, `tht demo`, `tht serve`: the portal as a whole."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from django.utils.translation import gettext as _

from evidence.console import JsonOption, OnceCommand, command_line, print_json, print_table
from portal import serving
from portal.demo import loading
from portal.demo.loading import Demo
from portal.env import Env, load, shown

config_app = command_line("Show every setting in force.")
demo_app = command_line("Load, prepare and publish the demo.")
serve_app = command_line("Start web, worker and broker.")


@config_app.command(cls=OnceCommand)
def config(*, as_json: JsonOption = False) -> None:
    """Show every setting of this process; secrets are masked.

    Example: tht config --json
    """
    settings = shown(load())
    if as_json:
        print_json(settings)
        return
    rows = (
        (variable, settings[variable], field.description)
        for variable, field in zip(settings, Env.model_fields.values(), strict=True)
    )
    print_table(_("Settings"), (_("variable"), _("value"), _("what it is")), rows)


@demo_app.command(cls=OnceCommand)
def demo(*, as_json: JsonOption = False) -> None:
    """Load the demo workspace, publish it, leave one note waiting; safe to repeat.

    Example: tht demo
    """
    env = load()
    loaded = loading.load(env.home, tell=_silent if as_json else typer.echo)
    if as_json:
        print_json({"workspace": loading.SLUG, "users": loaded.passwords, "key": loaded.key})
    else:
        typer.echo(welcome(env, loaded))


@serve_app.command(cls=OnceCommand)
def serve(
    *,
    with_demo: Annotated[bool, typer.Option("--demo", help="Load the demo first.")] = False,
) -> None:
    """Start web, worker and broker and keep them running; Ctrl-C stops all.

    Example: tht serve --demo
    """
    env = load()
    serving.check_port(env)
    with serving.alone(env.home):
        if with_demo:
            typer.echo(welcome(env, loading.load(env.home, tell=typer.echo)))
        raise typer.Exit(serving.serve(env))


def _silent(_line: str) -> None:
    """Say nothing: JSON stands alone on stdout."""


def welcome(env: Env, demo: Demo) -> str:
    """Give what a visitor reads: the address, who can sign in, and a question to ask."""
    people = "\n".join(f"    {name:12} {password}" for name, password in demo.passwords.items())
    body = json.dumps({"query": loading.QUESTION, "purpose": "sql_generation"}, ensure_ascii=False)
    address = f"http://{env.bind}"
    return "\n".join(
        [
            "",
            _("  The portal: %s") % f"{address}/admin/",
            _("  Sign in as a curator or as an approver:"),
            people,
            _("  Ask, once it serves:"),
            f"    curl -s {address}/api/v1/workspaces/{loading.SLUG}/search \\",
            f"      -H 'Authorization: Bearer {demo.key}' -H 'Content-Type: application/json' \\",
            f"      -d '{body}'",
            "",
        ]
    )
