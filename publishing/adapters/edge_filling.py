"""Fill a folder of the embedded engine, in a program of its own, and prove what it holds."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from evidence.messages import Message, gettext_noop
from publishing.adapters.edge_program import FillingProgram, Said
from publishing.domain.digests import PointsDigest, PointsSummary, canonical
from publishing.domain.languages import bm25_language
from publishing.domain.points import Point
from publishing.domain.vectors import checked_vector
from publishing.ports import Beat, StoredGeneration, VectorStoreUnavailable

_CHANGED: Final = gettext_noop("The vector engine did not keep what was written.")


def fill(
    folder: Path,
    generation: StoredGeneration,
    points: Iterable[Sequence[Point]],
    *,
    beat: Beat,
) -> Said:
    """Write all points to a new folder; give count and digest as read back, and the files' hashes.

    The folder is closed and on disk after it. Whatever `points` or `beat` raises ends the program
    and is raised here. Raises `VectorRefused`, `LanguageUnsupported`, `VectorStoreUnavailable`.
    """
    order = {
        "folder": str(folder),
        "dimension": generation.dimension,
        "language": bm25_language(generation.language),
        "avg_len": generation.avg_len,
    }
    written = PointsDigest()
    with FillingProgram(beat) as program:
        program.tell(json.dumps(order))
        for batch in points:
            if batch:
                program.tell(*_message(batch, dimension=generation.dimension, written=written))
        said = program.answer()
    if PointsSummary(count=said.count, digest=said.digest) != written.summary():
        raise VectorStoreUnavailable(Message(_CHANGED))
    return said


def _message(batch: Sequence[Point], *, dimension: int, written: PointsDigest) -> tuple[str, bytes]:
    """Give points as JSON, and their vectors as the 32-bit numbers that the engine keeps."""
    numbers = array("f")
    texts = []
    for point in batch:
        numbers.extend(checked_vector(point.dense, dimension=dimension))
        payload = canonical(point.payload.as_json())
        written.add(point.id, payload)
        texts.append(f'["{point.id}",{payload}]')
    return f"[{','.join(texts)}]", numbers.tobytes()
