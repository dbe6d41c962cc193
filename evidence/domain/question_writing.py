"""Add to `evaluation.yaml` and leave what people wrote there, comments included, as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from evidence.domain.normalization import normalize_source
from evidence.domain.problems import FieldRefused
from evidence.domain.questions import (
    EvaluationInvalid,
    EvaluationSet,
    Question,
    parse_evaluation,
)
from evidence.domain.yaml_writer import write_yaml
from evidence.messages import Message, gettext_noop


@dataclass(frozen=True, slots=True)
class Addition:
    """What is added: one question of the exam, or one that the workspace does not answer."""

    question: Question | None = None
    off_topic: str = ""

    def to(self, present: EvaluationSet) -> EvaluationSet:
        """Give the whole set with this in it. Raises `FieldRefused` for an id that is taken."""
        if self.question is None:
            if self.off_topic in present.off_topic:
                raise FieldRefused(Message(gettext_noop("This question is in the set already.")))
            return present.model_copy(update={"off_topic": (*present.off_topic, self.off_topic)})
        if any(each.id == self.question.id for each in present.queries):
            message = gettext_noop("There is a question “%(id)s” already.")
            raise FieldRefused(Message(message, id=self.question.id))
        return present.model_copy(update={"queries": (*present.queries, self.question)})

    @property
    def section(self) -> str:
        """Give the key of the list that grows."""
        return "off_topic" if self.question is None else "queries"

    @property
    def entry(self) -> str | dict[str, object]:
        """Give the new entry as YAML holds it."""
        return self.off_topic if self.question is None else _plain(self.question)


def with_addition(text: str, addition: Addition) -> str:
    """Give the file's text with one entry more; every line that was there stays where it can.

    A list in flow style, or one whose end cannot be told, makes the whole file be written anew in
    block style. Raises `EvaluationInvalid` for a broken file, `FieldRefused` for a taken id.
    """
    text = normalize_source(text.encode())
    wanted = addition.to(parse_evaluation(text))
    grown = _grown(text, addition)
    if grown is not None:
        try:
            if parse_evaluation(grown) == wanted:
                return grown
        except EvaluationInvalid:
            pass  # the layout was not the one we took it for: written anew below
    return dump_evaluation(wanted)


def dump_evaluation(questions: EvaluationSet) -> str:
    """Give the file in its one canonical form."""
    data: dict[str, object] = {
        "schema_version": 1,
        "queries": [_plain(question) for question in questions.queries],
    }
    if questions.off_topic:
        data["off_topic"] = list(questions.off_topic)
    return write_yaml(data)


def _plain(question: Question) -> dict[str, object]:
    return {
        "id": question.id,
        "query": question.query,
        "profile": question.profile.value,
        "purpose": question.purpose.value,
        "expected": list(question.expected),
    }


def _grown(text: str, addition: Addition) -> str | None:
    """Put the entry behind the last one of its list; None for a list in flow style."""
    root = yaml.compose(text, yaml.CSafeLoader)
    lists = {key.value: value for key, value in root.value} if root else {}
    node = lists.get(addition.section)
    lines = text.splitlines(keepends=True)
    if node is None:
        return text + write_yaml({addition.section: [addition.entry]})
    if not isinstance(node, yaml.SequenceNode) or node.flow_style or not node.value:
        return None
    column = node.start_mark.column
    place = _end(lines, first=node.start_mark.line, last=node.end_mark.line)
    entry = write_yaml({"x": [addition.entry]}).splitlines(keepends=True)[1:]
    padded = [" " * column + line if line.strip() else line for line in entry]
    return "".join([*lines[:place], *padded, *lines[place:]])


def _end(lines: Sequence[str], *, first: int, last: int) -> int:
    """Give the line behind a block list, before the blank lines and comments that follow it."""
    while last > first and (not lines[last - 1].strip() or lines[last - 1].startswith("#")):
        last -= 1
    return last
