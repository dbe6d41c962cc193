"""A unit in the making: what was recognised, where it stands, and what had to be guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from evidence.adapters.rules.names import as_title
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.words import AMBIGUOUS
from evidence.domain.payloads import PAYLOADS
from evidence.domain.units import EvidenceKind, EvidencePurpose, EvidenceScope, ReviewItem
from evidence.messages import gettext_noop
from evidence.ports import RestructureCandidate

MAX_EXCERPT, MAX_EXCERPTS = 1_000, 5
_BETWEEN = re.compile(r"[\s>*+-]*(?:\d{1,3}[.)])?\s*")

DOUBTS: Mapping[str, str] = {
    "kind_inferred": gettext_noop("The kind was guessed from the wording. Is it right?"),
    "purpose_inferred": gettext_noop("The purposes were guessed. Are they right?"),
    "ambiguous_statement": gettext_noop(
        "The source is not sure of this. Clear it up, or retire it."
    ),
    "column_unknown": gettext_noop("The source does not say which column is meant. Name it."),
    "source_contradicts_itself": gettext_noop("The source says two different things about this."),
    "dialect_uncertain": gettext_noop("This SQL may not be PostgreSQL. Check it."),
}

_PURPOSES: Mapping[EvidenceKind, tuple[EvidencePurpose, ...]] = {
    EvidenceKind.GLOSSARY: (EvidencePurpose.DISAMBIGUATION, EvidencePurpose.REWRITING),
    EvidenceKind.DOMAIN: (EvidencePurpose.DISAMBIGUATION,),
    EvidenceKind.ENUM: (EvidencePurpose.SCHEMA_LINKING, EvidencePurpose.SQL_GENERATION),
    EvidenceKind.EXAMPLE: (EvidencePurpose.SQL_GENERATION,),
    EvidenceKind.MAPPING: (EvidencePurpose.SCHEMA_LINKING, EvidencePurpose.SQL_GENERATION),
    EvidenceKind.NORMALIZATION: (EvidencePurpose.REWRITING,),
    EvidenceKind.FORMULA: (EvidencePurpose.SQL_GENERATION,),
    EvidenceKind.REFERENCE: (EvidencePurpose.DISAMBIGUATION,),
}


@dataclass(frozen=True, slots=True)
class Draft:
    """What one rule recognised; `spans` are the places it speaks for and will quote.

    `context` is quoted too, but left for other rules to speak for.
    """

    kind: EvidenceKind
    title: str
    payload: Mapping[str, object]
    spans: tuple[Span, ...]
    context: tuple[Span, ...] = ()
    scope: EvidenceScope = field(default_factory=EvidenceScope)
    body: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def start(self) -> int:
        """Give the place of its first word."""
        return min(span.start for span in self.spans)

    @property
    def is_valid(self) -> bool:
        """Tell whether the payload passes its model, so that a guess never fails a whole run."""
        try:
            PAYLOADS[self.kind].model_validate(dict(self.payload))
        except ValidationError:
            return False
        return bool(as_title(self.title))

    def doubting(self, *codes: str) -> Draft:
        """Give the draft with more doubts, each once."""
        return replace(self, doubts=tuple(dict.fromkeys((*self.doubts, *codes))))

    def places(self, text: str) -> tuple[Span, ...]:
        """Give the places that its candidate quotes."""
        return quoted((*self.context, *self.spans), text)

    def candidate(self, text: str) -> RestructureCandidate:
        """Give the candidate; `text` is the note its spans point into."""
        unsure = any(AMBIGUOUS.search(span.text) for span in self.spans)
        doubts = self.doubting("ambiguous_statement").doubts if unsure else self.doubts
        return RestructureCandidate(
            kind=self.kind,
            title=as_title(self.title),
            purposes=self._purposes(),
            scope=self.scope,
            excerpts=tuple(place.text for place in self.places(text)),
            payload=self.payload,
            body=self.body,
            review_items=tuple(ReviewItem(code=code, message=DOUBTS[code]) for code in doubts),
        )

    def _purposes(self) -> tuple[EvidencePurpose, ...]:
        purposes = _PURPOSES[self.kind]
        if self.kind is EvidenceKind.DOMAIN and self.scope.tables:
            return (*purposes, EvidencePurpose.SCHEMA_LINKING, EvidencePurpose.SQL_GENERATION)
        return purposes


def doubts_where(**doubted: bool) -> tuple[str, ...]:
    """Give the codes of `DOUBTS` that hold."""
    return tuple(code for code in DOUBTS if doubted.get(code))


def quoted(spans: Iterable[Span], text: str) -> tuple[Span, ...]:
    """Give at most five places of at most 1,000 characters to quote; neighbours become one."""
    return tuple(piece for run in _runs(spans, text) for piece in cut(run))[:MAX_EXCERPTS]


def cut(span: Span) -> Iterator[Span]:
    """Give a span in pieces that fit an excerpt, cut at line ends, else at spaces."""
    rest = span
    while len(rest.text) > MAX_EXCERPT:
        room = rest.text[:MAX_EXCERPT]
        at = room.rfind("\n") + 1 or room.rfind(" ") + 1 or MAX_EXCERPT
        yield rest.part(0, at)
        rest = rest.part(at, len(rest.text))
    if rest.text:
        yield rest


def _runs(spans: Iterable[Span], text: str) -> Iterator[Span]:
    run: tuple[int, int] | None = None
    for span in sorted(set(spans), key=lambda each: (each.start, each.end)):
        if run is None:
            run = (span.start, span.end)
        elif span.start <= run[1] or _BETWEEN.fullmatch(text, run[1], span.start):
            run = (run[0], max(run[1], span.end))
        else:
            yield Span(*run, text[slice(*run)])
            run = (span.start, span.end)
    if run is not None:
        yield Span(*run, text[slice(*run)])
