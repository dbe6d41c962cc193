"""`tht publish …`, `tht evidence evaluate`, `tht vector …`: without a broker (spec 70)."""

from __future__ import annotations

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
    progress_bar,
)
from evidence.faults import CuratorFault, OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.overview import RevisionSummary
from evidence.ports import Actor
from publishing import (
    activation,
    approval,
    inspection,
    overview,
    printing,
    publication,
    vouching,
    wiring,
)
from publishing.domain.lifecycle import GenerationState

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
vector_app = command_line("Look into the vector store.")


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
    printing.status(overview.status(workspace), as_json=as_json)


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
        workspace=workspace,
        to=to,
        actor=_actor(user),
        note=note,
        store=wiring.store(),
        embedder=wiring.embedder(),
    )
    printing.generation(overview.generation_summary(workspace, generation), as_json=as_json)


@publish_app.command(cls=OnceCommand)
def vouch(
    workspace: Slug,
    commit: Annotated[str, typer.Option("--commit", metavar="COMMIT", help="From outside.")],
    user: Annotated[str, typer.Option("--as", metavar="USER", help="The operator who vouches.")],
    note: Annotated[str, typer.Option("--note", help="How you know who wrote it; kept.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Vouch for a commit whose author is no user; somebody else can approve then.

    Example: tht publish vouch clinica-demo --commit 3f2a… --as operatrice --note "our consultant"
    """
    full = evidence_wiring.repository(workspace).resolve(commit)
    vouching.vouch(workspace=workspace, commit=full, actor=_actor(user), reason=note)
    printing.vouched(full, user, as_json=as_json)


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
    printing.exam(exam, as_json=as_json)
    raise typer.Exit(DONE if exam.passed else REFUSED)


@vector_app.callback()
def vector() -> None:
    """Look into the vector store; nothing here changes it."""


@vector_app.command(cls=OnceCommand)
def inspect(workspace: Slug, *, as_json: JsonOption = False) -> None:
    """Show the state of a workspace's collection, and how many records of each kind it holds.

    Example: tht vector inspect clinica-demo --json
    """
    printing.census(inspection.census(workspace), as_json=as_json)


def _show_ending(workspace: str, generation: UUID, *, as_json: bool) -> None:
    """Print how a candidate ended, and exit as spec 70 says."""
    found = overview.generation_summary(workspace, generation)
    code = _EXITS.get(found.state, FAILED)
    if code == FAILED:
        message = found.error_message or Message(gettext_noop("It was overtaken or deleted."))
        raise PublicationFailed(message, code=found.error_code or None)
    printing.generation(found, as_json=as_json)
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
