"""What the portal plugs in from above: who knows what people asked; None leaves that part out."""

from __future__ import annotations

from publishing.ports import OpenQuestions, QuestionLog

_filled: list[QuestionLog] = []
_open: list[OpenQuestions] = []


def fill(questions: QuestionLog) -> None:
    """Put the log of questions in; the last call counts."""
    _filled[:] = [questions]


def question_log() -> QuestionLog | None:
    """Give the log of questions of this process, or None where none was put in."""
    return _filled[0] if _filled else None


def fill_open(questions: OpenQuestions) -> None:
    """Put in who keeps open questions; the last call counts."""
    _open[:] = [questions]


def open_questions() -> OpenQuestions | None:
    """Give who keeps open questions, or None where nobody does."""
    return _open[0] if _open else None
