"""`tht evidence migrate-formulas`: take the old store of formulas over into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evidence import console, offline
from evidence.domain.differences import diff_of
from evidence.domain.formula_migration import Migration, migrate
from evidence.domain.legacy_formulas import read_store
from evidence.legacy_folder import read_legacy_folder


def migrate_formulas(
    legacy: Annotated[
        Path, typer.Argument(metavar="LEGACY-FOLDER", help="The folder of the old store.")
    ],
    root: Annotated[
        Path, typer.Argument(metavar="WORKSPACE-ROOT", help="The folder with workspace.yaml.")
    ],
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the difference and write nothing.")
    ] = False,
    json_output: console.JsonOption = False,
) -> None:
    """Take reviewed formulas of the old store over as units, to be reviewed with `git diff`.

    Example: tht evidence migrate-formulas old-store knowledge/clinica --dry-run

    Formulas that were never reviewed are listed as proposals. Exits with 3 when a formula was
    refused, else 0; run again, it changes nothing.
    """
    store = read_store(read_legacy_folder(legacy))
    work_tree = offline.work_tree(root)
    with work_tree.alone():
        if not dry_run:
            work_tree.refuse_dirty()
        tree = work_tree.read()
        migration = migrate(tree, store)
        difference = diff_of(migration.change_set, tree)
        if not dry_run:
            offline.add_sources(work_tree, migration.change_set)
            work_tree.apply(migration.change_set, tree)
    if json_output:
        shown = {"diff": difference} if dry_run else {}
        console.print_json({"dry_run": dry_run, **migration.as_json(), **shown})
    else:
        _show(migration, difference if dry_run else "")
    if migration.refused:
        raise typer.Exit(console.REVIEW)


def _show(migration: Migration, difference: str) -> None:
    typer.echo(difference, nl=False)
    rows = [("migrated", each.concept, each.evidence_id) for each in migration.migrated]
    rows += [("kept", source, "taken over before") for source in migration.kept]
    rows += [("proposal", each.concept, each.status) for each in migration.proposals]
    rows += [("refused", fault.path, str(fault.message)) for fault in migration.refused]
    console.print_table("Formulas", ("outcome", "formula", "what"), rows)
