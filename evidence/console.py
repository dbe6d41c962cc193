"""How every `tht` command speaks: options once, JSON alone on stdout, faults as exit codes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from evidence.faults import Fault

DONE, FAILED, MISUSE, REVIEW = 0, 1, 2, 3
"""Exit codes of every command (spec 20, Command line)."""

MISUSE_CODES = frozenset({"usage", "unsafe_path", "symlink_refused", "path_refused"})
"""Fault codes that are the caller's misuse rather than a failure."""

_UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Tick = Callable[[int, int, str], None]


class OnceCommand(TyperCommand):
    """A command that refuses an option given twice; Typer alone keeps the last one silently."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Count what the parser saw before handing over to it. Raises a usage error."""
        if args or not self.no_args_is_help:
            _, _, seen = self.make_parser(ctx).parse_args(args=list(args))
            for parameter, count in Counter(seen).items():
                if count > 1 and not getattr(parameter, "multiple", False):
                    message = f"The option {parameter.opts[0]} is given more than once."
                    raise typer.BadParameter(message, ctx=ctx)
        return super().parse_args(ctx, args)


class Door(TyperGroup):
    """A group of commands that turns faults and misuse into a message and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the group's own options; what it does not know is misuse in JSON, too."""
        as_json = "--json" in args
        try:
            return super().parse_args(ctx, args)
        except TyperException as misuse:
            if not as_json:
                raise
            raise _told(misuse) from misuse

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises `typer.Exit` with the code that belongs to a fault."""
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except Fault as fault:
            report_fault(fault, as_json=as_json)
            raise typer.Exit(exit_code_of(fault)) from fault
        except TyperException as misuse:
            if not as_json:
                raise
            raise _told(misuse) from misuse


def command_line(text: str) -> typer.Typer:
    """Give a Typer app that keeps these conventions (commands: `@app.command(cls=OnceCommand)`)."""
    return typer.Typer(cls=Door, help=text, no_args_is_help=True, add_completion=False)


def exit_code_of(fault: Fault) -> int:
    """Give the exit code of a fault: 2 for misuse, else 1."""
    return MISUSE if fault.code in MISUSE_CODES else FAILED


def report_fault(fault: Fault, *, as_json: bool) -> None:
    """Print a fault: as JSON on stdout, or for people on stderr (spec 70, The command line)."""
    if as_json:
        print_json({"error": fault.as_json()})
        return
    place = ":".join(str(part) for part in (fault.path, fault.line, fault.column) if part)
    lines = [f"Error ({fault.code}): {fault.message}"]
    lines += [f"  in {place}"] if place else []
    lines += [f"  {fault.hint}"] if fault.hint else []
    typer.secho(visible("\n".join(lines)), err=True, fg=typer.colors.RED)


def print_json(data: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print one JSON document to stdout; letters stay as they are."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))


def visible(text: str) -> str:
    """Spell out the characters that would move, colour or hide what stands on a terminal."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def print_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table for people to stdout; cells are plain text, never markup."""
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(str(cell))) for cell in row))
    Console().print(table)


@contextmanager
def progress_bar(label: str, *, hidden: bool) -> Iterator[Tick]:
    """Give a callback `(done, total, what)` that moves a bar on stderr, where one is wanted."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=hidden, transient=True) as progress:
        task = progress.add_task(label, total=None)

        def tick(done: int, total: int, what: str) -> None:
            progress.update(task, completed=done, total=total, description=f"{label} {what}")

        yield tick


def _told(misuse: TyperException) -> typer.Exit:
    error = {"code": "usage", "message": misuse.format_message(), "path": "", "hint": ""}
    print_json({"error": error})
    return typer.Exit(misuse.exit_code)
