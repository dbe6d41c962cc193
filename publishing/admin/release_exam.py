"""A rehearsal's exam beside the present one as rows of a page: ranks, verdicts, and the causes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from evidence.admin.unit_links import UnitLink
from evidence.admin.wording import badge
from evidence.overview import CommitAuthor
from evidence.tracing import Change, UnitChange
from publishing.admin.wording import percent
from publishing.domain import preview
from publishing.domain.preview import QuestionChange, Standing, UnitStanding, Verdict
from publishing.preview import Preview

_ = gettext_lazy
VERDICTS: Mapping[Verdict, tuple[str | Promise, str]] = {
    Verdict.WORSE: (_("worse"), "bad"),
    Verdict.BETTER: (_("better"), "ok"),
    Verdict.NEW: (_("nothing to compare with"), "info"),
    Verdict.SAME: (_("the same"), ""),
}
CHANGES: Mapping[Change, tuple[str | Promise, str]] = {
    Change.ADDED: (_("new"), "info"),
    Change.CHANGED: (_("changed"), "info"),
    Change.REMOVED: (_("taken out"), "bad"),
}
NOWHERE: Final = Standing(None, None, None)
Links = Mapping[str, UnitLink]
SIDES: Final[tuple[Literal["unit", "neighbour"], ...]] = ("unit", "neighbour")


@dataclass(frozen=True, slots=True)
class Cause:
    """A changed unit that a regression is traced to, and the commits that changed it."""

    unit: UnitLink
    badge: SafeString
    is_expected: bool
    commits: tuple[CommitAuthor, ...]


@dataclass(frozen=True, slots=True)
class ExpectedRow:
    """One expected unit: its ranks before and after in each list, in words."""

    unit: UnitLink
    dense: str
    bm25: str
    fused: str
    verdict: SafeString
    is_worse: bool
    causes: tuple[Cause, ...]
    overtaken_by: tuple[UnitLink, ...]


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question of the rehearsal's exam."""

    id: str
    query: str
    expected: tuple[ExpectedRow, ...]


@dataclass(frozen=True, slots=True)
class ExamRows:
    """The whole comparison: what differs, what stayed, and the shares found before and after."""

    moved: tuple[QuestionRow, ...]
    same: tuple[QuestionRow, ...]
    counts: tuple[tuple[SafeString, int], ...]
    shares: tuple[tuple[str, str, str], ...]


def exam_rows(shown: Preview, changes: Mapping[str, UnitChange], links: Links) -> ExamRows:
    """Give the comparison with links to the units it names."""
    rows = [(each.verdict, _question(each, changes, links)) for each in shown.questions]
    verdicts = [verdict for verdict, _row in rows]
    return ExamRows(
        moved=tuple(row for verdict, row in rows if verdict is not Verdict.SAME),
        same=tuple(row for verdict, row in rows if verdict is Verdict.SAME),
        counts=tuple(
            (badge(*VERDICTS[each]), verdicts.count(each)) for each in Verdict if each in verdicts
        ),
        shares=tuple(_shares(shown)),
    )


def _shares(shown: Preview) -> Iterator[tuple[str, str, str]]:
    """Give, for each cut, the share of questions found before and after."""
    before, after = shown.before, shown.after
    if after is None:
        return
    yield (
        gettext("found among the first 5"),
        percent(before.hit_at_5) if before else "",
        percent(after.hit_at_5),
    )
    yield (
        gettext("found among the first 10"),
        percent(before.hit_at_10) if before else "",
        percent(after.hit_at_10),
    )


def _question(
    question: QuestionChange, changes: Mapping[str, UnitChange], links: Links
) -> QuestionRow:
    return QuestionRow(
        id=question.id,
        query=question.query,
        expected=tuple(_expected(each, changes, links) for each in question.expected),
    )


def _expected(unit: UnitStanding, changes: Mapping[str, UnitChange], links: Links) -> ExpectedRow:
    traced = preview.suspects(unit, changes)
    before, after = unit.before, unit.after
    then = before or NOWHERE
    return ExpectedRow(
        unit=links[unit.evidence_id],
        dense=_moved(before, then.dense, after.dense),
        bm25=_moved(before, then.bm25, after.bm25),
        fused=_moved(before, then.fused, after.fused),
        verdict=badge(*VERDICTS[unit.verdict]),
        is_worse=unit.verdict is Verdict.WORSE,
        causes=tuple(_cause(each, unit, changes[each], links) for each in traced),
        overtaken_by=tuple(links[each] for each in unit.overtaken_by),
    )


def _moved(known: Standing | None, before: int | None, after: int | None) -> str:
    """Give a rank before and after, or the one that there is."""
    return f"{_rank(before)} → {_rank(after)}" if known else _rank(after)


def _rank(rank: int | None) -> str:
    return "—" if rank is None else str(rank)


def _cause(evidence_id: str, unit: UnitStanding, change: UnitChange, links: Links) -> Cause:
    return Cause(
        unit=links[evidence_id],
        badge=badge(*CHANGES[change.change]),
        is_expected=evidence_id == unit.evidence_id,
        commits=change.commits,
    )


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two units of which the first is new or changed, and how alike they are, 1 being the same."""

    unit: UnitLink
    neighbour: UnitLink
    alike: float


def duplicates(shown: Preview, links: Links) -> Sequence[Duplicate]:
    """Give the pairs that look like duplicates, the most alike first."""
    pairs = shown.duplicates["pairs"] if shown.duplicates else ()
    return [
        Duplicate(links[pair["unit"]], links[pair["neighbour"]], pair["similarity"])
        for pair in pairs
    ]


def units_of(shown: Preview, changes: Collection[str]) -> set[str]:
    """Give the ids of all units that the comparison names."""
    pairs = shown.duplicates["pairs"] if shown.duplicates else ()
    expected = [unit for question in shown.questions for unit in question.expected]
    return {
        *changes,
        *(pair[side] for pair in pairs for side in SIDES),
        *(unit.evidence_id for unit in expected),
        *(name for unit in expected for name in unit.overtaken_by),
    }
