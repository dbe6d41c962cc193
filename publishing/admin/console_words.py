"""What the search console says: where units stand, why one is there or not, how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from evidence.admin.wording import kind_label, purpose_label
from publishing.domain.confidence import Confidence, matched_words
from publishing.domain.reasons import LOOK, Exclusion, Reason, Standing, Verdict, standing
from publishing.domain.scoring import UnitHit, group_by_unit
from publishing.search_console import Look

FIELDS: Final[dict[str, str | Promise]] = {
    "purpose": _("what it is for"),
    "kind": _("kind"),
    "concepts": _("concepts"),
    "tables": _("tables"),
    "columns": _("columns"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One unit that either branch found, with its places; `is_shown` says it is in the answer."""

    unit: UnitHit
    kind: str
    fused: int
    dense: Standing | None
    bm25: Standing | None
    is_shown: bool


def rows(looked: Look) -> list[Row]:
    """Give every unit of the fused list in its order."""
    fused = looked.live.stored.prefetch
    dense, bm25 = looked.found.dense[:fused], looked.found.bm25[:fused]
    return [
        Row(
            unit=unit,
            kind=kind_label(unit.first.evidence_kind),
            fused=place,
            dense=standing(unit.evidence_id, dense),
            bm25=standing(unit.evidence_id, bm25),
            is_shown=place <= looked.request.top_n,
        )
        for place, unit in enumerate(group_by_unit(looked.found.fused), start=1)
    ]


def filters(looked: Look) -> list[tuple[str, str]]:
    """Give the filters in force, each field with its alternatives."""
    wanted = looked.wanted
    lists = {
        "purpose": (wanted.purpose,),
        "kind": wanted.kinds,
        "concepts": wanted.concepts,
        "tables": wanted.tables,
        "columns": wanted.columns,
    }
    return [
        (str(FIELDS[field]), _alternatives(field, tuple(map(str, values))))
        for field, values in lists.items()
        if values
    ]


def confidence(looked: Look) -> list[str]:
    """Say in sentences what the confidence rests on."""
    found = looked.found
    if not found.units:
        return [gettext("Nothing passes the filters, so the answer is empty and weak.")]
    values = {"best": decimals(found.best_dense), "threshold": decimals(looked.threshold)}
    is_near = found.best_dense is not None and found.best_dense >= looked.threshold
    near = (
        gettext("The best similarity, %(best)s, reaches the threshold of %(threshold)s.")
        if is_near
        else gettext("The best similarity, %(best)s, is below the threshold of %(threshold)s.")
    )
    excerpts = [fragment.text for unit in found.units for fragment in unit.fragments]
    words = matched_words(looked.request.query, excerpts, language=looked.live.stored.language)
    return [near % values, _words(words, found.lexical_hits)]


def is_grounded(looked: Look) -> bool:
    """Tell whether the answer is grounded."""
    return looked.found.confidence is Confidence.GROUNDED


def why(reason: Reason, evidence_id: str, looked: Look) -> list[str]:
    """Say in sentences what became of a unit, the outcome first."""
    fused = looked.live.stored.prefetch
    said = {"id": evidence_id, "place": reason.fused, "top": looked.request.top_n, "look": fused}
    sentences = [_OUTCOMES[reason.verdict] % said]
    sentences += [_exclusion(each) for each in reason.exclusions]
    if reason.verdict in {Verdict.SHOWN, Verdict.CUT, Verdict.TOO_FAR}:
        look = max(LOOK, fused)
        for branch, stands, measure in (
            (gettext("By meaning"), reason.dense, gettext("similarity")),
            (gettext("By words"), reason.bm25, gettext("score")),
        ):
            sentences.append(_branch(branch, stands, measure, look))
    if reason.verdict not in {Verdict.UNKNOWN, Verdict.NOT_PUBLISHED, Verdict.ORPHAN}:
        sentences.append(_words(reason.words, len(reason.words)))
    return sentences


def decimals(number: float | None) -> str:
    """Give a score with three decimals, or a dash."""
    return "—" if number is None else str(number_format(round(number, 3), 3))


_OUTCOMES: Final[dict[Verdict, str | Promise]] = {
    Verdict.UNKNOWN: _("%(id)s is neither in this generation nor in the present revision."),
    Verdict.NOT_PUBLISHED: _(
        "%(id)s is in the present revision, but not in this generation: it is not published yet."
    ),
    Verdict.ORPHAN: _(
        "%(id)s is in the present revision as an orphan, its source is gone or says it no more: "
        "it is not in this generation and cannot be published before that is resolved."
    ),
    Verdict.EXCLUDED: _("%(id)s is in this generation, but a filter of this search excludes it."),
    Verdict.TOO_FAR: _(
        "%(id)s passes the filters, but is not among the first %(look)s fragments of either branch."
    ),
    Verdict.CUT: _(
        "%(id)s came in place %(place)s of the fused list, and only %(top)s units were asked for."
    ),
    Verdict.SHOWN: _("%(id)s is in the answer, in place %(place)s."),
}


def _exclusion(each: Exclusion) -> str:
    has = _alternatives(each.field, each.has) or gettext("nothing")
    values = {
        "field": FIELDS[each.field],
        "asked": _alternatives(each.field, each.asked),
        "has": has,
    }
    return gettext("Filter “%(field)s”: asked for %(asked)s; the unit has %(has)s.") % values


def _branch(name: str, stands: Standing | None, measure: str, look: int) -> str:
    if stands is None:
        values: dict[str, object] = {"branch": name, "look": look}
        return gettext("%(branch)s: not among the first %(look)s fragments.") % values
    values = {
        "branch": name,
        "rank": stands.rank,
        "measure": measure,
        "score": decimals(stands.score),
    }
    return gettext("%(branch)s: place %(rank)s, %(measure)s %(score)s.") % values


def _words(words: tuple[str, ...], count: int) -> str:
    if not count:
        return gettext("It has no word in common with the question.")
    sentence = ngettext(
        "It has a word in common with the question: %(words)s.",
        "It has words in common with the question: %(words)s.",
        len(words),
    )
    return sentence % {"words": ", ".join(words)}


def _alternatives(field: str, values: tuple[str, ...]) -> str:
    labels = {"purpose": purpose_label, "kind": kind_label}
    label = labels.get(field, str)
    return gettext(" or ").join(map(label, values))
