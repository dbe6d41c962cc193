"""What it costs to validate 10,000 units, compared with reading them alone.

Every second unit speaks of the same term as the one before it, one in ten repeats its neighbour
nearly word for word, and all share one phrase: comparing units must cost in proportion to what
they say, not to their pairs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from bench.measured import Measured, seconds, side_by_side
from evidence.domain.codec import parse_curated_markdown
from evidence.domain.inspection import inspect_workspace
from evidence.domain.manifest import Manifest, ManifestSource, dump_manifest
from evidence.domain.normalization import source_hash
from evidence.domain.tree import EvidenceTree
from evidence.domain.validation import validate
from tests.makers import a_numbered_unit, an_evaluation, sentence, unit_file, yaml_of_workspace

UNITS: Final = 10_000
UNITS_A_SOURCE: Final = 10
WORDS: Final = tuple(f"parola{number}" for number in range(3_000))
PHRASE: Final = "secondo le linee guida in uso nel reparto di cardiologia"
ROUNDS: Final = 3


def measure() -> Measured:
    """Read all units, and validate the tree they lie in, in turns."""
    tree = _tree()
    works = {
        f"read {UNITS:,}": partial(_read, tree),
        f"validate {UNITS:,}": partial(_validate, tree),
    }
    return side_by_side("validate all units", works, rounds=ROUNDS, target=6)


def _read(tree: EvidenceTree, _turn: int) -> float:
    files = tree.under("curated/")
    return seconds(
        lambda: [parse_curated_markdown(data.decode(), path=path) for path, data in files.items()]
    )


def _validate(tree: EvidenceTree, _turn: int) -> float:
    return seconds(lambda: validate(tree))


def _tree() -> EvidenceTree:
    workspace_yaml = yaml_of_workspace()
    return EvidenceTree(
        workspace=inspect_workspace(workspace_yaml).workspace,
        workspace_yaml=workspace_yaml,
        files=dict(_files()),
    )


def _files() -> Iterator[tuple[str, bytes]]:
    sources: dict[str, ManifestSource] = {}
    definitions = _definitions()
    for first in range(0, UNITS, UNITS_A_SOURCE):
        numbers = range(first, first + UNITS_A_SOURCE)
        path, text = f"source/nota-{first}.md", "".join(map(sentence, numbers))
        yield path, text.encode()
        for number in numbers:
            payload = {"term": f"termine {number // 2}", "definition": definitions[number]}
            yield unit_file(a_numbered_unit(number, source=path, text=text, payload=payload))
        ids = tuple(f"evidence:regola-{number}" for number in numbers)
        sources[path] = ManifestSource(sha256=source_hash(text), units=ids)
    yield "manifest.yaml", dump_manifest(Manifest(sources=sources)).encode()
    yield "evaluation.yaml", an_evaluation("evidence:regola-0")


def _definitions() -> Mapping[int, str]:
    chance = random.Random(1)  # noqa: S311
    said: dict[int, str] = {}
    for number in range(UNITS):
        repeated = number % 10 == 9
        words = said[number - 1].split() if repeated else chance.choices(WORDS, k=30)
        words[chance.randrange(20)] = chance.choice(WORDS)
        said[number] = " ".join(words) if repeated else f"{' '.join(words)} {PHRASE}"
    return said
