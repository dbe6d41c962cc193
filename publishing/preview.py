"""What a rehearsed release would change: its exam beside that of what answers now (spec 50)."""

from __future__ import annotations

from dataclasses import dataclass

from evidence.overview import RevisionSummary
from publishing import summaries
from publishing.domain import preview
from publishing.domain.duplicates import Comparison
from publishing.domain.lifecycle import REHEARSED, GenerationState
from publishing.domain.preview import QuestionChange
from publishing.domain.replay import Replay
from publishing.models import Evaluation, Generation
from publishing.summaries import EvaluationSummary, GenerationSummary


@dataclass(frozen=True, slots=True)
class Preview:
    """The newest candidate of a revision, and what its exam says beside the active one's."""

    candidate: GenerationSummary | None
    before: EvaluationSummary | None
    after: EvaluationSummary | None
    questions: tuple[QuestionChange, ...] = ()
    gone: tuple[str, ...] = ()
    """Questions of the active generation's exam that the candidate's does not ask."""
    duplicates: Comparison | None = None
    """What `neighbours.find` gave; None where it never looked."""
    replay: Replay | None = None
    """What `replay.find` gave; None where it never asked, or when its questions are forgotten."""


def preview_of(*, workspace: str, summary: RevisionSummary) -> Preview:
    """Give how a revision would fare, as far as a candidate of it has come; four queries at most.

    Without a candidate everything is empty; without an active exam all questions are new.
    """
    rows = Generation.objects.filter(
        workspace=workspace, revision=summary.commit, content_digest=summary.content_digest
    )
    row = rows.filter(state__in=REHEARSED).select_related("approval").first()
    if row is None:
        return Preview(candidate=None, before=None, after=None)
    active = Evaluation.objects.filter(
        workspace=workspace, generation__state=GenerationState.ACTIVE
    ).first()
    own = Evaluation.objects.filter(generation=row).first()
    earlier, later = _read(active), _read(own)
    return Preview(
        candidate=summaries.generation_of(row),
        before=summaries.evaluation_of(active) if active else None,
        after=summaries.evaluation_of(own) if own else None,
        questions=preview.compare(earlier, later),
        gone=tuple(name for name in earlier if name not in later) if own else (),
        duplicates=row.neighbours or None,
        replay=row.replay or None,
    )


def _read(row: Evaluation | None) -> dict[str, preview.Sat]:
    return preview.read(row.report, row.answers) if row else {}
