"""Which questions of a workspace's exam expect a unit, at the mirrored head."""

from __future__ import annotations

from functools import lru_cache

from evidence import plugged
from evidence.domain.normalization import decode_utf8
from evidence.domain.paths import EVIDENCE_FOLDER
from evidence.domain.questions import Question, parse_evaluation
from evidence.domain.tree import EVALUATION_PATH
from evidence.models import UnitRecord

EXAMS = 8
"""How many exams a process keeps read."""


def questions_expecting(record: UnitRecord) -> tuple[Question, ...]:
    """Give the questions that expect a unit, in the order of the file; none without an exam.

    Raises `EvaluationInvalid`, and what reading the repository raises.
    """
    workspace = record.workspace
    repository = plugged.repository(workspace.slug)
    entry = repository.entry(workspace.mirrored_commit, EVIDENCE_FOLDER + EVALUATION_PATH)
    if entry is None:
        return ()
    questions = _questions(workspace.slug, entry.blob)
    return tuple(each for each in questions if record.evidence_id in each.expected)


@lru_cache(EXAMS)
def _questions(slug: str, blob: str) -> tuple[Question, ...]:
    """Read one file once: a blob never changes."""
    data = plugged.repository(slug).blobs([blob])[blob]
    return parse_evaluation(decode_utf8(data)).queries
