"""What it costs to prepare 1,000 sources of which one changed, with one scripted answer.

Compared with hashing the sources alone plus the same scripted call. The target of issue 3 is the
ratio with the scripted call as the tests make it: a real Pi process that asks a model on loopback.
The second row is harder, its call answers at once, and the third has nothing to ask at all: there,
hashing takes 7 ms for 8 MB, and reading and comparing 1,000 entries and 1,000 digests of units has
a price of its own. All three know what the preparation before found out, as the command does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench.measured import Measured, Several, seconds, side_by_side
from bench.scripted_pi import scripted_pi
from evidence.adapters.wire import write_answer
from evidence.domain.inspection import inspect_workspace
from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest
from evidence.domain.memory import Memory
from evidence.domain.normalization import normalize_source, source_hash
from evidence.domain.tree import EvidenceTree
from evidence.ports import RestructureCandidate, Restructurer, RestructureRequest
from evidence.preparation import Terms, prepare
from tests.makers import a_numbered_unit, an_evaluation, sentence, unit_file, yaml_of_workspace

SOURCES: Final = 1_000
CHANGED: Final = "source/nota-500.md"
ADDED: Final = "\nUna frase in fondo alla nota che prima non c'era.\n"
PROSE: Final = (
    "I reparti aprono alle otto di mattina, e chi arriva prima aspetta all'ingresso.\n" * 100
)
"""What surrounds a note's one quoted sentence: about 8 KB, as notes have."""
ROUNDS: Final = 5


class Scripted:
    """Gives back what a source had before, and counts how often it is asked."""

    name, local, model, skill_digest = "scripted", True, "", ""

    def __init__(self) -> None:
        """Start at no calls."""
        self.calls = 0

    def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        """Give the previous units as they were."""
        self.calls += 1
        return _candidates(request)


class Refusing(Scripted):
    """Is never to be asked."""

    def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        """Fail."""
        raise AssertionError(request.source_file)


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: who is asked, about which tree, and how often."""

    name: str
    tree: EvidenceTree
    restructurer: Restructurer
    asked: Callable[[], int]
    target: float
    calls: int = 1


def measure() -> Several:
    """Hash every source and ask once, and prepare the tree, in turns. Fails on a second call."""
    before, after = _tree(""), _tree(ADDED)
    known = prepare(before, Scripted()).memory
    request = _request(after)
    at_once = Scripted()
    rows = [
        Row("prepare after one change, answered at once", after, at_once, lambda: at_once.calls, 6),
        Row("prepare after no change", before, Refusing(), lambda: 0, 6, calls=0),
    ]
    with ExitStack() as stack:
        pi = stack.enter_context(scripted_pi(lambda _: write_answer(_candidates(request))))
        if pi is not None:
            name = "prepare after one change, asked through Pi"
            rows.insert(0, Row(name, after, pi.restructurer, lambda: pi.asked, 2))
        return Several(tuple(_measured(row, request, known) for row in rows))


def _measured(row: Row, request: RestructureRequest, known: Memory) -> Measured:
    works = {
        f"hash {SOURCES:,} sources, {row.calls} calls": partial(_hash, row, request),
        f"prepare {SOURCES:,}": partial(_prepare, row, known),
    }
    return side_by_side(row.name, works, rounds=ROUNDS, target=row.target)


def _hash(row: Row, request: RestructureRequest, _turn: int) -> float:
    sources = row.tree.under("source/")

    def work() -> None:
        for data in sources.values():
            source_hash(normalize_source(data))
        if row.calls:
            row.restructurer.restructure(request)

    return seconds(work)


def _prepare(row: Row, known: Memory, _turn: int) -> float:
    asked = row.asked()
    took = seconds(lambda: prepare(row.tree, row.restructurer, terms=Terms(known=known)))
    if row.asked() - asked != row.calls:
        message = f"{row.asked() - asked} calls, not {row.calls}"
        raise AssertionError(message)
    return took


def _candidates(request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
    return tuple(
        RestructureCandidate(
            existing_id=unit.id,
            kind=unit.kind,
            title=unit.title,
            purposes=unit.purposes,
            scope=unit.scope,
            excerpts=unit.provenance.supporting_excerpts,
            payload=unit.payload.model_dump(),
            body=unit.body,
            review_items=unit.review_items,
        )
        for unit in request.previous_units
    )


def _request(tree: EvidenceTree) -> RestructureRequest:
    asked: list[RestructureRequest] = []

    class Listening(Scripted):
        def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
            asked.append(request)
            return super().restructure(request)

    prepare(tree, Listening())
    return asked[0]


def _tree(added: str) -> EvidenceTree:
    workspace_yaml = yaml_of_workspace()
    files = dict(_files())
    files[CHANGED] += added.encode()
    return EvidenceTree(
        workspace=inspect_workspace(workspace_yaml).workspace,
        workspace_yaml=workspace_yaml,
        files=files,
    )


def _files() -> Iterator[tuple[str, bytes]]:
    sources: dict[str, ManifestSource] = {}
    for number in range(SOURCES):
        path, text = f"source/nota-{number}.md", f"# Nota {number}\n\n{sentence(number)}\n{PROSE}"
        yield path, text.encode()
        unit = a_numbered_unit(number, source=path, text=text)
        yield unit_file(unit)
        sources[path] = ManifestSource(sha256=source_hash(text), units=(unit.id,))
    yield "manifest.yaml", dump_manifest(Manifest(sources=sources)).encode()
    yield "evaluation.yaml", an_evaluation("evidence:regola-0")
