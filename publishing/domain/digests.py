"""Count and digest of points, as written and as read back; imports so little that it starts fast.

The program that fills a folder of the embedded engine (`publishing.adapters.edge_filler`) uses it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PointsSummary:
    """How many points there are, and a digest of ids and payloads that ignores the order."""

    count: int
    digest: str


class PointsDigest:
    """Counts points and digests them whatever their order; one that comes twice counts once."""

    def __init__(self) -> None:
        """Start with no points."""
        self._digests: dict[str, str] = {}

    def add(self, point_id: object, payload: str) -> None:
        """Take one point into account: its id, and its payload as `canonical` gives it."""
        self._digests[str(point_id)] = hashlib.sha256(payload.encode()).hexdigest()

    def summary(self) -> PointsSummary:
        """Give the count, and SHA-256 over the sorted lines `<id> <SHA-256 of the payload>`.

        Vectors are left out because a store normalizes them; it proves their presence by itself.
        """
        lines = sorted(f"{point_id} {digest}\n" for point_id, digest in self._digests.items())
        digest = hashlib.sha256("".join(lines).encode()).hexdigest()
        return PointsSummary(count=len(lines), digest=f"sha256:{digest}")


def canonical(payload: Mapping[str, object]) -> str:
    """Give a payload's JSON values as the one text that is digested."""
    return json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
