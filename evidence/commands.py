"""`tht evidence prepare | validate | resolve`: they work on a folder alone, without Django."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evidence import console, formula_commands, offline
from evidence.domain import resolution
from evidence.domain.findings import ValidationFinding
from evidence.domain.preparation_report import PreparationReport
from evidence.domain.validation import validate as validate_tree
from evidence.preparation import DEFAULT_TERMS, Terms
from evidence.preparation import prepare as prepare_tree

evidence_app = console.command_line("Prepare, validate and resolve a folder of notes.")

Root = Annotated[
    Path, typer.Argument(metavar="WORKSPACE-ROOT", help="The folder that holds workspace.yaml.")
]


class RestructurerName(StrEnum):
    """What turns notes into units."""

    RULES = "rules"
    PI = "pi"


@evidence_app.callback()
def evidence() -> None:
    """Prepare, validate and resolve a folder of notes; nothing is committed."""


@evidence_app.command(cls=console.OnceCommand)
def prepare(
    root: Root,
    *,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Reprocess every source with this pipeline.")
    ] = False,
    restructurer: Annotated[
        RestructurerName, typer.Option(envvar="PORTAL_RESTRUCTURER", help="Who reads the notes.")
    ] = RestructurerName.RULES,
    concurrency: Annotated[
        int, typer.Option(envvar="PORTAL_RESTRUCTURE_CONCURRENCY", hidden=True, min=1, max=32)
    ] = DEFAULT_TERMS.concurrency,
    confirm_personal_data: Annotated[
        bool,
        typer.Option(
            "--confirm-personal-data",
            help="Let a model elsewhere read notes that seem to hold personal data.",
        ),
    ] = False,
    json_output: console.JsonOption = False,
) -> None:
    """Turn new and changed notes into units, to be reviewed with `git diff`.

    Example: tht evidence prepare knowledge/clinica

    Exits with 3 when something needs review, else 0.
    """
    work_tree = offline.work_tree(root)
    settings = offline.settings()
    asked = offline.restructurer(restructurer, pi=settings.pi, home=settings.home)
    memories, name = offline.memories(settings.home), str(work_tree.root)
    terms = Terms(
        known=memories.get(name),
        concurrency=concurrency,
        cache=offline.answer_cache(settings.home),
        personal_data_confirmed=confirm_personal_data,
    )
    with work_tree.alone(), console.progress_bar("Preparing", hidden=json_output) as tick:
        work_tree.refuse_dirty()
        tree = work_tree.read()
        preparation = prepare_tree(tree, asked, upgrade=upgrade, progress=tick, terms=terms)
        work_tree.apply(preparation.change_set, tree)
    if preparation.memory != terms.known:
        memories.put(name, preparation.memory)
    if json_output:
        console.print_json(preparation.report.as_json())
    else:
        _show_report(preparation.report)
    if preparation.report.review_required:
        raise typer.Exit(console.REVIEW)


@evidence_app.command(cls=console.OnceCommand)
def validate(root: Root, *, json_output: console.JsonOption = False) -> None:
    """Say what blocks publication.

    Example: tht evidence validate knowledge/clinica --json

    Exits with 0 when nothing does, 3 when only review items or orphans do, 1 for errors.
    """
    work_tree = offline.work_tree(root)
    work_tree.heal()
    report = validate_tree(work_tree.read())
    if json_output:
        console.print_json(report.as_json())
    else:
        _show_findings(report.findings)
        typer.echo(
            f"{report.errors} errors, {report.open_review_items} open review items,"
            f" {report.orphans} orphans."
        )
    if report.errors:
        raise typer.Exit(console.FAILED)
    if not report.publishable:
        raise typer.Exit(console.REVIEW)


@evidence_app.command(cls=console.OnceCommand)
def resolve(
    root: Root,
    evidence_id: Annotated[str, typer.Argument(metavar="EVIDENCE-ID")],
    *,
    retire: Annotated[bool, typer.Option("--retire", help="Remove the unit.")] = False,
    source: Annotated[
        str | None, typer.Option("--source", help="Relink an orphan to this prepared source.")
    ] = None,
    json_output: console.JsonOption = False,
) -> None:
    """Retire a unit, or relink an orphan to a source that holds its excerpts.

    Example: tht evidence resolve knowledge/clinica evidence:ablazione --retire
    """
    if retire == (source is not None):
        raise typer.BadParameter("Give exactly one of --retire and --source.")
    work_tree = offline.work_tree(root)
    with work_tree.alone():
        work_tree.refuse_dirty()
        tree = work_tree.read()
        change_set = (
            resolution.retire(tree, evidence_id)
            if source is None
            else resolution.relink(tree, evidence_id, source)
        )
        work_tree.apply(change_set, tree)
    done = {"evidence_id": evidence_id, "action": "retired" if retire else "relinked"}
    if json_output:
        console.print_json({**done, "changed": list(change_set.changes)})
    else:
        typer.echo(f"{evidence_id} {done['action']}: {', '.join(change_set.changes)}")


evidence_app.command("migrate-formulas", cls=console.OnceCommand)(formula_commands.migrate_formulas)


def _show_report(report: PreparationReport) -> None:
    counts = {
        "sources restructured": len(report.changed),
        "sources unchanged": len(report.unchanged),
        "sources renamed": len(report.renamed),
        "units created": len(report.created),
        "units updated": len(report.updated),
        "units orphaned": len(report.orphaned),
        "open review items": report.validation.open_review_items,
        "sources asked about": report.model_calls,
        "answers kept from earlier": report.cached,
    }
    console.print_table("Preparation", ("what", "count"), counts.items())
    _show_findings(report.validation.findings)


def _show_findings(findings: tuple[ValidationFinding, ...]) -> None:
    if findings:
        rows = ((found.severity, found.code, found.path, found.message) for found in findings)
        console.print_table("Findings", ("severity", "code", "path", "message"), rows)
