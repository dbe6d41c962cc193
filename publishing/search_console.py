"""Try a question by hand: the very search of the API, with everything behind its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from evidence import overview as evidence_overview
from evidence.domain.codec import parse_curated_markdown
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from publishing import generations, retrieval, wiring
from publishing.domain.payload import FragmentPayload
from publishing.domain.points import draft_points
from publishing.domain.query import (
    EvidenceFilter,
    SearchRequest,
    make_filter,
    render_query_text,
)
from publishing.domain.reasons import LOOK, Lists, Reason, Verdict, reason_for
from publishing.generations import LiveGeneration
from publishing.hybrid import Found
from publishing.outcomes import Unavailable, UnavailableCode, unavailable
from publishing.overview import GenerationUnknown


@dataclass(frozen=True, slots=True)
class Look:
    """An answer and what is behind it; `lists` go deeper than a search when a unit was named."""

    live: LiveGeneration
    request: SearchRequest
    text: str
    """The question as the embedder and BM25 got it."""
    wanted: EvidenceFilter
    threshold: float
    found: Found

    @property
    def lists(self) -> Lists:
        """Give both branches and the fused list."""
        return Lists(self.found.dense, self.found.bm25, self.found.fused)


def look(
    workspace: str, request: SearchRequest, *, generation: UUID | None, deep: bool = False
) -> Look | Unavailable:
    """Ask as `retrieval.search` does, and show what the answer rests on; changes nothing.

    Any generation that holds points may be asked, also one that waits or did not pass. `deep` looks
    at `LOOK` fragments a branch, instead of only as many as are fused. Raises `GenerationUnknown`.
    """
    live = _chosen(workspace, generation)
    if live is None:
        return unavailable(UnavailableCode.NO_ACTIVE_GENERATION)
    fused = live.stored.prefetch
    found = retrieval.find_in(live, request, depth=max(LOOK, fused) if deep else fused)
    if isinstance(found, Unavailable):
        return found
    default = wiring.embedder().default_threshold
    return Look(
        live=live,
        request=request,
        text=render_query_text(request),
        wanted=make_filter(request, live.stored.key),
        threshold=default if live.threshold is None else live.threshold,
        found=found,
    )


def why(looked: Look, evidence_id: str) -> Reason:
    """Say why a unit is, or is not, in an answer that was looked at deeply.

    A unit that the generation lacks is looked for in the present head. Raises the faults of the
    repository.
    """
    stored = looked.live.stored
    fragments = _fragments(looked.live, evidence_id)
    if fragments:
        return reason_for(
            fragments,
            question=looked.request.query,
            language=stored.language,
            wanted=looked.wanted,
            lists=looked.lists,
            top_n=looked.request.top_n,
        )
    state = evidence_overview.unit_state(stored.workspace, evidence_id)
    if state is None:
        return Reason(Verdict.UNKNOWN)
    return Reason(Verdict.ORPHAN if state.is_orphan else Verdict.NOT_PUBLISHED)


def _chosen(workspace: str, generation: UUID | None) -> LiveGeneration | None:
    if generation is None:
        return generations.active(workspace)
    live = generations.examinable(workspace, generation)
    if live is None:
        raise GenerationUnknown(
            Message(gettext_noop("Generation %(id)s holds nothing to ask any more."), id=generation)
        )
    return live


def _fragments(live: LiveGeneration, evidence_id: str) -> Sequence[FragmentPayload]:
    """Give the fragments of a unit as its generation holds them: built from the same file."""
    found = retrieval.unit_bytes(live.stored.workspace, live.stored.revision, evidence_id)
    if found is None:
        return ()
    path, data = found
    try:
        unit = parse_curated_markdown(data.decode("utf-8-sig"), path=path)
    except (CuratorFault, UnicodeDecodeError):
        return ()  # a published revision holds none; the head of another workspace may
    return [draft.payload for draft in draft_points(unit, path=path, key=live.stored.key)]
