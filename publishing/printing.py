"""How the commands of publication print generations and exams, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from django.utils.translation import gettext as _

from evidence.console import print_json, print_table
from publishing.domain.exam import Exam
from publishing.ports import Census
from publishing.summaries import GenerationSummary, PublicationStatus


def generation(found: GenerationSummary, *, as_json: bool) -> None:
    """Print one generation."""
    if as_json:
        print_json(found.as_json())
    else:
        generations([found])


def generations(found: Sequence[GenerationSummary]) -> None:
    """Print a table of generations."""
    print_table(
        _("Generations"),
        (_("Generation"), _("Revision"), _("State"), _("Fragments"), _("hit@10"), _("Error")),
        [
            (
                one.id,
                one.revision[:12],
                _(one.state.value),
                one.point_count,
                f"{one.evaluation.hit_at_10:.2f}" if one.evaluation else "-",
                one.error_code or "-",
            )
            for one in found
        ],
    )


def exam(found: Exam, *, as_json: bool) -> None:
    """Print an exam: the ranks of every expected unit, and whether it passed."""
    if as_json:
        print_json(found.as_json())
        return
    rows = [
        (
            answer.question.id,
            unit,
            *(ranks.get(unit, "-") for ranks in answer.ranks.in_order()),
        )
        for answer in found.answered
        for unit in answer.question.expected
    ]
    headings = (_("Question"), _("Expected"), _("Dense"), _("BM25"), _("Fused"))
    print_table(_("Evaluation"), headings, rows)
    typer.echo(f"hit@5 {found.hit_at_5:.2f}  hit@10 {found.hit_at_10:.2f}")
    typer.echo(_("Passed.") if found.passed else _("Not passed."))


def census(found: Census, *, as_json: bool) -> None:
    """Print the state of a collection and a line for each kind of record."""
    if as_json:
        print_json(found.as_json())
        return
    typer.echo(_("State: %s") % _(found.state.value))
    typer.echo(_("Size of the dense vector: %s") % (found.dimension or "-"))
    typer.echo("bm25: " + (_("yes") if found.has_bm25 else _("no")))
    headings = (_("Kind of record"), _("Records"), _("Some ids"))
    rows = [
        (kind or "-", count, " ".join(found.sample_ids[kind]))
        for kind, count in found.counts.items()
    ]
    print_table(_("Records"), headings, rows)


def vouched(commit: str, by: str, *, as_json: bool) -> None:
    """Print for which commit somebody vouched."""
    if as_json:
        print_json({"commit": commit, "vouched_by": by})
    else:
        typer.echo(_("%(user)s vouches for %(commit)s.") % {"user": by, "commit": commit[:12]})


def status(found: PublicationStatus, *, as_json: bool) -> None:
    """Print where a workspace's publication stands."""
    if as_json:
        print_json(found.as_json())
        return
    behind = "-" if found.behind is None else found.behind
    waiting = found.open_approval
    typer.echo(_("Head: %s") % found.head)
    typer.echo(_("Active: %s") % (found.active.revision if found.active else "-"))
    typer.echo(_("Commits behind: %s") % behind)
    typer.echo(_("Open approval: %s") % (waiting.approved_by if waiting else "-"))
    generations(found.generations)
