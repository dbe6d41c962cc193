"""Turn what a restructurer answered for one source into units, trusting none of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from evidence.domain.codec import dump_curated_markdown
from evidence.domain.credentials import find_credentials
from evidence.domain.fragments import render_fragments
from evidence.domain.identifiers import evidence_id_for
from evidence.domain.normalization import contains_excerpt
from evidence.domain.units import SCHEMA_VERSION, CuratedEvidence, ReviewItem, build_unit
from evidence.faults import CuratorFault, Fault
from evidence.messages import Message, gettext_noop
from evidence.ports import RestructureCandidate, RestructureRequest

UNSUPPORTED, RETIREMENT = "source_no_longer_supports_unit", "retirement_candidate"
DOUBTS = {
    UNSUPPORTED: gettext_noop(
        "The source no longer holds every excerpt of this unit. Correct the unit or retire it."
    ),
    RETIREMENT: gettext_noop(
        "The source no longer yields this unit; it may have been split or superseded."
        " Keep it or retire it."
    ),
}


class CandidateRefused(CuratorFault):
    """An answer breaks a rule, so the whole run is refused; `path` names the source."""

    code = "candidate_refused"
    hint = gettext_noop("Nothing was written. Run the preparation again, or correct the source.")


def units_from(
    request: RestructureRequest,
    candidates: Collection[RestructureCandidate],
    *,
    taken: Collection[str],
) -> tuple[CuratedEvidence, ...]:
    """Give the units of one source: the answer's, in its order, then the previous ones it left out.

    `taken` holds every id of the workspace. Raises `CandidateRefused` with the code of the rule
    that was broken (spec 20, Preparation, steps 3 and 4).
    """
    previous = {unit.id: unit for unit in request.previous_units}
    answered: dict[str, CuratedEvidence] = {}
    ids = set(taken)
    for candidate in candidates:
        known = _known(candidate, previous, request)
        if known is not None and known.id in answered:
            template = gettext_noop("The answer gives %(id)s twice.")
            raise _refused(request, "existing_id_repeated", template, id=known.id)
        if known is not None and _has_lost_support(candidate, known, request):
            continue
        evidence_id = known.id if known else evidence_id_for(candidate.title, ids)
        ids.add(evidence_id)
        answered[evidence_id] = _checked_unit(candidate, request, evidence_id, known)
    left_out = [unit for unit in request.previous_units if unit.id not in answered]
    return (*answered.values(), *(retained(unit, request) for unit in left_out))


def retained(unit: CuratedEvidence, request: RestructureRequest) -> CuratedEvidence:
    """Give a previous unit that the answer does not mention, with the doubt that blocks it."""
    supported = all(
        contains_excerpt(request.normalized_text, excerpt)
        for excerpt in unit.provenance.supporting_excerpts
    )
    code = RETIREMENT if supported else UNSUPPORTED
    doubt = ReviewItem(code=code, message=DOUBTS[code])
    others = tuple(item for item in unit.review_items if item.code not in DOUBTS)
    provenance = unit.provenance.model_copy(update={"source_sha256": request.source_sha256})
    return unit.model_copy(update={"provenance": provenance, "review_items": (*others, doubt)})


def _known(
    candidate: RestructureCandidate,
    previous: Mapping[str, CuratedEvidence],
    request: RestructureRequest,
) -> CuratedEvidence | None:
    if candidate.existing_id is None:
        return None
    if candidate.existing_id not in previous:
        template = gettext_noop("The answer names %(id)s, which is no unit of this source.")
        raise _refused(request, "existing_id_unknown", template, id=candidate.existing_id)
    return previous[candidate.existing_id]


def _has_lost_support(
    candidate: RestructureCandidate, known: CuratedEvidence, request: RestructureRequest
) -> bool:
    """Tell whether the answer only says, in the agreed way, that a unit lost its support."""
    return (
        any(item.code == UNSUPPORTED for item in candidate.review_items)
        and set(candidate.excerpts) <= set(known.provenance.supporting_excerpts)
        and not all(contains_excerpt(request.normalized_text, each) for each in candidate.excerpts)
    )


def _checked_unit(
    candidate: RestructureCandidate,
    request: RestructureRequest,
    evidence_id: str,
    known: CuratedEvidence | None,
) -> CuratedEvidence:
    for excerpt in candidate.excerpts:
        if not contains_excerpt(request.normalized_text, excerpt):
            template = gettext_noop("An excerpt of “%(title)s” does not occur in the source.")
            raise _refused(request, "excerpt_not_found", template, title=candidate.title)
    data = _fields(candidate, request, evidence_id)
    if known is not None and known.language is not None:
        data["language"] = known.language
    try:
        unit = build_unit(data)
        text = dump_curated_markdown(unit)
        render_fragments(unit)
    except Fault as fault:
        template = gettext_noop("“%(title)s” is no valid unit: %(reason)s")
        raise _refused(
            request, fault.code, template, title=candidate.title, reason=fault.message
        ) from fault
    if find_credentials(text):
        template = gettext_noop("“%(title)s” holds something that looks like a credential.")
        raise _refused(request, "credential_detected", template, title=candidate.title)
    return unit


def _fields(
    candidate: RestructureCandidate, request: RestructureRequest, evidence_id: str
) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "id": evidence_id,
        "kind": candidate.kind,
        "title": candidate.title,
        "purposes": candidate.purposes,
        "scope": candidate.scope,
        "provenance": {
            "source_file": request.source_file,
            "source_sha256": request.source_sha256,
            "supporting_excerpts": candidate.excerpts,
        },
        "payload": candidate.payload,
        "review_items": candidate.review_items,
        "body": candidate.body,
    }


def _refused(
    request: RestructureRequest, code: str, template: str, **values: object
) -> CandidateRefused:
    return CandidateRefused(Message(template, **values), code=code, path=request.source_file)
