"""Grow the exam by a question somebody tried: one commit, then the mirror (spec 50, Evaluation)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from pydantic import TypeAdapter, ValidationError

from evidence import plugged
from evidence.committing import Deed, commit
from evidence.domain.identifiers import unit_path
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.problems import FieldRefused, problems_of
from evidence.domain.question_writing import Addition, with_addition
from evidence.domain.questions import Question, QuestionText
from evidence.domain.tree import EVALUATION_PATH, ChangeSet
from evidence.domain.units import EvidenceKind
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.models import Workspace
from evidence.ports import Actor, EditConflict, Repository

TRIES = 5
_TEXT: TypeAdapter[str] = TypeAdapter(QuestionText)


class QuestionRefused(CuratorFault):
    """A question cannot join the evaluation set: its id is taken, or it expects what is gone."""

    code = "evaluation_question_refused"


def add_question(*, workspace: str, fields: Mapping[str, object], author: Actor) -> str:
    """Add a question to the evaluation set of the head in one commit, and give the commit.

    `fields` are those of an entry of `queries`: id, query, profile, purpose, expected. Additions
    commute, so one that meets another commit is made again on the new head. Raises
    `QuestionRefused` for a taken id, a unit that the head lacks or a field that may not be so,
    `EvaluationInvalid` for a broken file, `EditConflict`, `RepositoryBusy`.
    """
    try:
        question = Question.model_validate(fields)
    except ValidationError as error:
        problem = problems_of(error)[0]
        message = Message(
            gettext_noop("%(field)s: %(problem)s"), field=problem.field, problem=problem.message
        )
        raise QuestionRefused(message, path=EVALUATION_PATH) from error
    return _added(workspace, Addition(question=question), author)


def add_off_topic(*, workspace: str, query: str, author: Actor) -> str:
    """Add a question that the workspace does not answer, in one commit, and give the commit.

    Raises what `add_question` raises.
    """
    try:
        text = _TEXT.validate_python(query)
    except ValidationError as error:
        raise QuestionRefused(problems_of(error)[0].message, path=EVALUATION_PATH) from error
    return _added(workspace, Addition(off_topic=text), author)


def _added(workspace: str, addition: Addition, author: Actor) -> str:
    row = Workspace.named(workspace)
    for _ in range(TRIES):
        with suppress(EditConflict):
            return _commit(row, addition, author)
    return _commit(row, addition, author)


def _commit(row: Workspace, addition: Addition, author: Actor) -> str:
    repository = plugged.repository(row.slug)
    head = repository.head(row.branch)
    entry = repository.entry(head, EVIDENCE_FOLDER + EVALUATION_PATH)
    if entry is None:
        message = gettext_noop("This workspace has no evaluation.yaml yet.")
        raise QuestionRefused(message, path=EVALUATION_PATH)
    if addition.question is not None:
        _refuse_unknown(repository, head, addition.question)
    text = decode_utf8(repository.blobs([entry.blob])[entry.blob])
    try:
        grown = with_addition(text, addition)
    except FieldRefused as refused:
        raise QuestionRefused(refused.message, path=EVALUATION_PATH) from refused
    change_set = ChangeSet({EVALUATION_PATH: grown.encode()})
    return commit(workspace=row, change_set=change_set, parent=head, deed=_deed(addition, author))


def _refuse_unknown(repository: Repository, head: str, question: Question) -> None:
    for unit in question.expected:
        paths = [EVIDENCE_FOLDER + unit_path(kind, unit) for kind in EvidenceKind]
        if not repository.entries(head, paths):
            message = Message(gettext_noop("There is no unit %(id)s any more."), id=unit)
            raise QuestionRefused(message, path=EVALUATION_PATH)


def _deed(addition: Addition, author: Actor) -> Deed:
    question = addition.question
    title = f"Examine “{question.query}”" if question else f"Off topic: “{addition.off_topic}”"
    ids = question.expected if question else ()
    return Deed(actor=author, action="add-question", title=title, evidence_ids=ids)
