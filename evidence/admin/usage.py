"""Where a unit is used: questions of the exam that expect it, sessions that were told it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evidence import plugged
from evidence.admin.wording import fault_line
from evidence.domain.questions import Question
from evidence.expecting import questions_expecting
from evidence.faults import Fault
from evidence.models import UnitRecord
from evidence.ports import UnitUsage

LATEST: Final = 5
QUESTIONS: Final = 20


@dataclass(frozen=True, slots=True)
class Used:
    """What the page of a unit says of its use; `fault` where the exam cannot be read."""

    questions: tuple[Question, ...] = ()
    question_count: int = 0
    fault: str = ""
    told: UnitUsage | None = None


def used_in(record: UnitRecord) -> Used:
    """Give the use of a unit that has an id; a fault of the exam is told in its place."""
    usage = plugged.usage()
    slug, evidence_id = record.workspace.slug, record.evidence_id
    told = None if usage is None else usage.of_unit(slug, evidence_id, most=LATEST)
    try:
        questions = questions_expecting(record)
    except Fault as fault:
        return Used(fault=fault_line(fault), told=told)
    return Used(questions[:QUESTIONS], len(questions), told=told)
