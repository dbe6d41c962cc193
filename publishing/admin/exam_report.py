"""The JSON of an exam as rows of a page: questions in words, ranks with colour and text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from evidence import wiring
from evidence.admin.wording import badge, kind_label, purpose_label
from evidence.domain.questions import parse_evaluation
from evidence.domain.tree import EVALUATION_PATH
from evidence.faults import Fault
from publishing.models import Evaluation

MISSING = 1_000_000


@dataclass(frozen=True, slots=True)
class Expected:
    """One unit a question expects, with its rank by meaning, by words, and in the answer."""

    evidence_id: str
    dense: SafeString
    bm25: SafeString
    fused: SafeString


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question of the exam."""

    id: str
    query: str
    purpose: str
    hit: bool
    best: int
    """The best fused rank of an expected unit."""
    branches: int
    """Its best ranks in both branches together, which tell equal ones apart."""
    expected: tuple[Expected, ...]


def questions(row: Evaluation) -> list[QuestionRow]:
    """Give the questions of an exam, the worst first."""
    words = _queries(row.workspace, row.report.get("workspace_revision", ""))
    found = [_question(entry, words) for entry in row.report.get("queries", [])]
    return sorted(found, key=lambda question: (-question.best, -question.branches, question.id))


def by_kind(report: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    """Give, by kind in words, how many expected units were found among how many."""
    counts: Mapping[str, Mapping[str, int]] = report.get("by_kind", {})
    return [
        (kind_label(kind), count["found_at_10"], count["expected"])
        for kind, count in sorted(counts.items())
    ]


def rank_badge(rank: int | None) -> SafeString:
    """Give a rank in a colour that says how good it is, and a word where there is none."""
    if rank is None:
        return badge(_("not found"), "bad")
    return badge(str(rank), "ok" if rank <= 5 else "warn" if rank <= 10 else "bad")


def _question(entry: Mapping[str, Any], words: Mapping[str, str]) -> QuestionRow:
    expected = entry["expected"]
    return QuestionRow(
        id=entry["id"],
        query=words.get(entry["id"], entry["id"]),
        purpose=purpose_label(entry["purpose"]),
        hit=entry["hit_at_10"],
        best=_best(expected, "fused_rank"),
        branches=_best(expected, "dense_rank") + _best(expected, "bm25_rank"),
        expected=tuple(_expected(each) for each in expected),
    )


def _best(expected: Sequence[Mapping[str, Any]], name: str) -> int:
    return min((each[name] for each in expected if each[name] is not None), default=MISSING)


def _expected(each: Mapping[str, Any]) -> Expected:
    return Expected(
        evidence_id=each["evidence_id"],
        dense=rank_badge(each["dense_rank"]),
        bm25=rank_badge(each["bm25_rank"]),
        fused=rank_badge(each["fused_rank"]),
    )


def _queries(slug: str, revision: str) -> dict[str, str]:
    """Read the questions' words at that revision; without them the ids stand for themselves."""
    try:
        repository = wiring.repository(slug)
        wanted = f"evidence/{EVALUATION_PATH}"
        blobs = [each.blob for each in repository.entries(revision) if each.path == wanted]
        texts = [data.decode() for data in repository.blobs(blobs).values()]
        return {each.id: each.query for text in texts for each in parse_evaluation(text).queries}
    except (Fault, UnicodeDecodeError):
        return {}
