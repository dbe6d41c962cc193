"""How well the rules read notes: precision and recall per kind over a labelled set of our own.

A found unit counts when its kind and key facts are those of a label, each label once.

The rules were mended on these very notes, so their score is a floor to keep, not a promise for
others: read for the first time, the notes of `mixed.yaml` gave a precision of 0.81, then those of
`mixed_two.yaml` 0.92.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.table import Table

from bench.labels import Label, LabelledNote, labelled_notes
from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.domain.normalization import normalize_source, source_hash
from evidence.ports import RestructureCandidate, RestructureRequest

PRECISION: Final = 0.90


@dataclass(frozen=True, slots=True)
class Score:
    """How many units were right, found and wanted."""

    right: int
    found: int
    wanted: int

    @property
    def precision(self) -> float:
        """Give the share of what was found that is right; 1 when nothing was found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Give the share of what was wanted that was found; 1 when nothing was wanted."""
        return self.right / self.wanted if self.wanted else 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules made of one note, and how much of it is right."""

    note: LabelledNote
    found: tuple[RestructureCandidate, ...]
    right: tuple[RestructureCandidate, ...]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The readings of the labelled set, scored."""

    readings: tuple[Reading, ...]
    name: str = "rules on labelled notes"

    @property
    def overall(self) -> Score:
        """Give the score over all kinds."""
        scores = self.by_kind().values()
        return Score(
            right=sum(score.right for score in scores),
            found=sum(score.found for score in scores),
            wanted=sum(score.wanted for score in scores),
        )

    @property
    def on_negatives(self) -> int:
        """Give how many units were made of notes that should give none."""
        return sum(len(each.found) for each in self.readings if not each.note.labels)

    @property
    def holds(self) -> bool:
        """Tell whether precision is reached and negative notes give nothing."""
        return self.overall.precision >= PRECISION and not self.on_negatives

    def by_kind(self) -> dict[str, Score]:
        """Give the score of each kind that was found or wanted, in order of name."""
        right = Counter(unit.kind.value for each in self.readings for unit in each.right)
        found = Counter(unit.kind.value for each in self.readings for unit in each.found)
        wanted = Counter(label.kind for each in self.readings for label in each.note.labels)
        return {
            kind: Score(right[kind], found[kind], wanted[kind])
            for kind in sorted(found.keys() | wanted.keys())
        }

    def as_json(self) -> dict[str, object]:
        """Give what `bench/results.json` keeps."""
        return {
            "name": self.name,
            "notes": len(self.readings),
            "precision": round(self.overall.precision, 3),
            "recall": round(self.overall.recall, 3),
            "on_negatives": self.on_negatives,
            "target": PRECISION,
            "holds": self.holds,
        }

    def table(self) -> Table:
        """Give the table people read."""
        title = f"{self.name} ({len(self.readings)}); {self.on_negatives} units on negative notes"
        table = Table(title=title, title_justify="left")
        for heading in ("kind", "right", "found", "wanted", "precision", "recall", "verdict"):
            table.add_column(heading)
        for kind, score in self.by_kind().items():
            table.add_row(kind, *_cells(score), "")
        verdict = "holds" if self.holds else "not good enough"
        table.add_row("overall", *_cells(self.overall), f"{verdict} (at least {PRECISION:.2f})")
        return table


def measure() -> Accuracy:
    """Read every labelled note with the rules."""
    return Accuracy(tuple(map(_read, labelled_notes())))


def _read(note: LabelledNote) -> Reading:
    text = normalize_source(note.text.encode())
    request = RestructureRequest(
        source_file=f"source/{note.name}.md",
        source_sha256=source_hash(text),
        normalized_text=text,
        language=note.language,
        previous_units=(),
    )
    found = tuple(RulesRestructurer().restructure(request))
    return Reading(note=note, found=found, right=tuple(_right(found, note.labels)))


def _right(
    found: Sequence[RestructureCandidate], labels: Iterable[Label]
) -> list[RestructureCandidate]:
    right: list[RestructureCandidate] = []
    for label in labels:
        hits = (unit for unit in found if unit not in right and label.matches(unit))
        right.extend(unit for unit, _ in zip(hits, range(1), strict=False))
    return right


def _cells(score: Score) -> tuple[str, ...]:
    counts = map(str, (score.right, score.found, score.wanted))
    return (*counts, f"{score.precision:.2f}", f"{score.recall:.2f}")
