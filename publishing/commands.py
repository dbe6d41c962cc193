"""`tht publish …` and `tht evidence evaluate`: in the foreground, without a broker (spec 70)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final
from uuid import UUID

import typer
from django.contrib.auth import get_user_model
from django.utils.translation import gettext as _

from evidence import overview as evidence_overview
from evidence import wiring as evidence_wiring
from evidence.console import (
    DONE,
    FAILED,
    REVIEW,
    JsonOption,
    OnceCommand,
    command_line,
    print_json,
    print_table,
    progress_bar,
)
from evidence.faults import CuratorFault, OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.overview import RevisionSummary
from evidence.ports import Actor
from publishing import activation, approval, overview, publication, wiring
from publishing.domain.exam import Exam
from publishing.domain.lifecycle import GenerationState
from publishing.overview import GenerationSummary

REFUSED: Final = REVIEW
"""Exit code of a candidate or generation that did not pass its exam."""

Slug = Annotated[str, typer.Argument(metavar="WORKSPACE", help="Slug of the workspace.")]
AsUser = Annotated[
    str, typer.Option("--as", metavar="USER", help="Who approves; their permission is checked.")
]
Revision = Annotated[str, typer.Option("--revision", metavar="COMMIT", help="Commit id.")]
Note = Annotated[str, typer.Option("--note", help="Why; kept in the log.")]

publish_app = command_line("Approve revisions, watch generations, roll back.")
evaluate_app = command_line("Run the exam of a generation.")


class UserUnknown(CuratorFault):
    """`--as` names nobody."""

    code = "user_unknown"


class PublicationFailed(OperatorFault):
    """The candidate ended with a fault, whose code and message this repeats."""

    code = "publication_failed"


@publish_app.command(cls=OnceCommand)
def status(workspace: Slug, *, as_json: JsonOption = False) -> None:
    """Show head, active generation, open approval and generations.

    Example: tht publish status clinica-demo --json
    """
    found = overview.status(workspace)
    if as_json:
        print_json(found.as_json())
        return
    behind = "-" if found.behind is None else found.behind
    waiting = found.open_approval
    typer.echo(_("Head: %s") % found.head)
    typer.echo(_("Active: %s") % (found.active.revision if found.active else "-"))
    typer.echo(_("Commits behind: %s") % behind)
    typer.echo(_("Open approval: %s") % (waiting.approved_by if waiting else "-"))
    _print_generations(found.generations)


@publish_app.command(cls=OnceCommand)
def rehearse(
    workspace: Slug,
    revision: Annotated[str, typer.Option(metavar="COMMIT", help="Default: the head.")] = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """Build and examine a revision without an approval.

    Example: tht publish rehearse clinica-demo
    """
    commit = revision or evidence_overview.workspace(workspace).head
    operator = Actor(username="tht", name="", email="")
    summary = _revision(workspace, commit)
    generation = approval.rehearse(workspace=workspace, revision=summary.commit, actor=operator)
    with progress_bar(_("Publishing"), hidden=as_json) as tick:
        publication.finish(generation, parts=replace(wiring.parts(), watch=tick))
    _show_ending(workspace, generation, as_json=as_json)


@publish_app.command(cls=OnceCommand)
def approve(
    workspace: Slug, revision: Revision, user: AsUser, note: Note, *, as_json: JsonOption = False
) -> None:
    """Approve a revision and publish it; exit 3 when its exam refuses it.

    Example: tht publish approve clinica-demo --revision 3f2a… --as approvatore --note "March"
    """
    summary = _revision(workspace, revision)
    with progress_bar(_("Publishing"), hidden=as_json) as tick:
        generation = publication.publish(
            workspace=workspace,
            revision=summary.commit,
            content_digest=summary.content_digest,
            actor=_actor(user),
            note=note,
            parts=replace(wiring.parts(), watch=tick),
        )
    _show_ending(workspace, generation, as_json=as_json)


@publish_app.command(cls=OnceCommand)
def rollback(
    workspace: Slug,
    user: AsUser,
    note: Note,
    to: Annotated[UUID | None, typer.Option(help="Default: the one before the active.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Point at a retained generation again; nothing is built.

    Example: tht publish rollback clinica-demo --as approvatore --note "wrong codes"
    """
    generation = activation.roll_back(
        workspace=workspace, to=to, actor=_actor(user), note=note, store=wiring.store()
    )
    _print_generation(overview.generation_summary(workspace, generation), as_json=as_json)


@evaluate_app.command(cls=OnceCommand)
def evaluate(
    workspace: Slug,
    generation: Annotated[UUID | None, typer.Option(help="Default: the active one.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Run the exam against a generation; exit 3 when it does not pass.

    Example: tht evidence evaluate clinica-demo --json
    """
    with progress_bar(_("Evaluating"), hidden=as_json) as tick:
        parts = replace(wiring.parts(), watch=tick)
        exam = publication.reexamine(workspace, generation, parts=parts)
    if as_json:
        print_json(exam.as_json())
    else:
        _print_exam(exam)
    raise typer.Exit(DONE if exam.passed else REFUSED)


def _show_ending(workspace: str, generation: UUID, *, as_json: bool) -> None:
    """Print how a candidate ended, and exit as spec 70 says."""
    found = overview.generation_summary(workspace, generation)
    code = _EXITS.get(found.state, FAILED)
    if code == FAILED:
        message = found.error_message or Message(gettext_noop("It was overtaken or deleted."))
        raise PublicationFailed(message, code=found.error_code or None)
    _print_generation(found, as_json=as_json)
    raise typer.Exit(code)


_EXITS: Final = {
    GenerationState.ACTIVE: DONE,
    GenerationState.READY: DONE,
    GenerationState.REJECTED: REFUSED,
}


def _revision(workspace: str, revision: str) -> RevisionSummary:
    commit = evidence_wiring.repository(workspace).resolve(revision)
    return evidence_overview.revision(workspace, commit)


def _actor(username: str) -> Actor:
    user = get_user_model().objects.filter(username=username).first()
    if user is None:
        raise UserUnknown(Message(gettext_noop("There is no user %(user)s."), user=username))
    return Actor(username=username, name=user.get_full_name(), email=user.email)


def _print_generation(found: GenerationSummary, *, as_json: bool) -> None:
    if as_json:
        print_json(found.as_json())
    else:
        _print_generations([found])


def _print_generations(found: Sequence[GenerationSummary]) -> None:
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


def _print_exam(exam: Exam) -> None:
    rows = [
        (
            answer.question.id,
            unit,
            *(ranks.get(unit, "-") for ranks in answer.ranks.in_order()),
        )
        for answer in exam.answered
        for unit in answer.question.expected
    ]
    headings = (_("Question"), _("Expected"), _("Dense"), _("BM25"), _("Fused"))
    print_table(_("Evaluation"), headings, rows)
    typer.echo(f"hit@5 {exam.hit_at_5:.2f}  hit@10 {exam.hit_at_10:.2f}")
    typer.echo(_("Passed.") if exam.passed else _("Not passed."))
