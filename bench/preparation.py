"""What it costs to prepare 1,000 sources of which one changed, with one scripted answer.

Compared with hashing the sources alone plus the same scripted call, which answers at once: what
did not change may cost little more than finding out that it did not. The report judges the whole
tree after the change, and that is nearly all of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from bench.measured import Measured, seconds, side_by_side
from evidence.domain.inspection import inspect_workspace
from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest
from evidence.domain.normalization import normalize_source, source_hash
from evidence.domain.tree import EvidenceTree
from evidence.ports import RestructureCandidate, RestructureRequest
from evidence.preparation import prepare
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


def measure() -> Measured:
    """Hash every source and ask once, and prepare the tree, in turns. Fails on a second call."""
    tree = _tree()
    works = {
        f"hash {SOURCES:,} sources, one call": partial(_hash, tree, _request(tree)),
        f"prepare {SOURCES:,}, one changed": partial(_prepare, tree),
    }
    return side_by_side("prepare after one change", works, rounds=ROUNDS, target=2)


def _hash(tree: EvidenceTree, request: RestructureRequest, _turn: int) -> float:
    sources = tree.under("source/")

    def work() -> None:
        for data in sources.values():
            source_hash(normalize_source(data))
        Scripted().restructure(request)

    return seconds(work)


def _prepare(tree: EvidenceTree, _turn: int) -> float:
    scripted = Scripted()
    took = seconds(lambda: prepare(tree, scripted))
    if scripted.calls != 1:
        message = f"{scripted.calls} calls for one changed source"
        raise AssertionError(message)
    return took


def _request(tree: EvidenceTree) -> RestructureRequest:
    asked: list[RestructureRequest] = []

    class Listening(Scripted):
        def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
            asked.append(request)
            return super().restructure(request)

    prepare(tree, Listening())
    return asked[0]


def _tree() -> EvidenceTree:
    workspace_yaml = yaml_of_workspace()
    files = dict(_files())
    files[CHANGED] += ADDED.encode()
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
