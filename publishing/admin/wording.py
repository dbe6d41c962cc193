"""States of generations and approvals as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from math import floor
from typing import Protocol

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.wording import badge
from publishing.domain.lifecycle import UNFINISHED, ApprovalState, GenerationState
from publishing.models import Generation
from publishing.transitions import VOUCHED

Words = tuple[str | Promise, str]

GENERATIONS: Mapping[str, Words] = {
    GenerationState.BUILDING: (_("being built"), "info"),
    GenerationState.EVALUATING: (_("sitting its exam"), "info"),
    GenerationState.READY: (_("passed, not in use"), "info"),
    GenerationState.ACTIVE: (_("answering now"), "ok"),
    GenerationState.SUPERSEDED: (_("kept, can be brought back"), ""),
    GenerationState.REJECTED: (_("did not pass its exam"), "warn"),
    GenerationState.FAILED: (_("failed"), "bad"),
    GenerationState.DELETING: (_("being removed"), ""),
    GenerationState.DELETED: (_("removed"), ""),
}
APPROVALS: Mapping[str, Words] = {
    ApprovalState.OPEN: (_("being carried out"), "info"),
    ApprovalState.ACTIVATED: (_("in use since then"), "ok"),
    ApprovalState.EXAM_FAILED: (_("did not pass its exam"), "warn"),
    ApprovalState.CANCELLED: (_("taken back"), ""),
    ApprovalState.FAILED: (_("failed"), "bad"),
}


def generation_words(state: str) -> str:
    """Give a generation's state in words."""
    return str(GENERATIONS.get(state, (state, ""))[0])


def generation_badge(state: str) -> SafeString:
    """Give a generation's state as a badge."""
    return badge(*GENERATIONS.get(state, (state, "")))


class Progress(Protocol):
    """What tells how far a build is: a generation's row or its summary."""

    @property
    def state(self) -> str: ...

    @property
    def progress_done(self) -> int: ...

    @property
    def progress_total(self) -> int: ...


def progress_words(generation: Progress) -> str:
    """Say how far a build or an exam is."""
    if generation.state == GenerationState.BUILDING and generation.progress_total:
        counts = {"done": generation.progress_done, "total": generation.progress_total}
        return gettext("%(done)s of %(total)s fragments built") % counts
    if generation.state == GenerationState.EVALUATING and generation.progress_total:
        counts = {"done": generation.progress_done, "total": generation.progress_total}
        return gettext("%(done)s of %(total)s questions asked") % counts
    return generation_words(generation.state)


def is_under_way(row: Generation) -> bool:
    """Tell whether a worker still has to build, to examine or, once approved, to activate it."""
    return row.state in UNFINISHED or _is_approved_and_ready(row)


def _is_approved_and_ready(row: Generation) -> bool:
    approval = row.approval
    is_ready = row.state == GenerationState.READY
    return is_ready and approval is not None and approval.state == ApprovalState.OPEN


def live_words(row: Generation, now: datetime) -> str:
    """Say how far a candidate is, and whether it was tried before or waits for a worker."""
    checked = gettext("approved; a worker checks it once more, then it answers")
    said = [checked if _is_approved_and_ready(row) else progress_words(row)]
    if row.tries > 1:
        said.append(gettext("this is try number %(tries)s") % {"tries": row.tries})
    if row.error_code:
        said.append(gettext("the last try ended with %(code)s") % {"code": row.error_code})
    if row.lease_expires_at is None or row.lease_expires_at < now:
        said.append(gettext("nobody works on it now; it goes on within a minute"))
    return " · ".join(said)


def approval_badge(state: str) -> SafeString:
    """Give how an approval stands or ended as a badge."""
    return badge(*APPROVALS.get(state, (state, "")))


def event_words(state: str) -> str:
    """Give a state of either kind, as the log mixes both, or that somebody vouched."""
    if state == VOUCHED:
        return gettext("vouched for a change")
    words = GENERATIONS.get(state) or APPROVALS.get(state) or (state or "—", "")
    return str(words[0])


def percent(share: float) -> str:
    """Give a share of questions as a whole percentage, never rounded up to 100."""
    # A share is a quotient of small counts: 29 of 100 is 0.29, and 0.29 * 100 a little below 29.
    return f"{floor(share * 100 + 1e-9)} %"
