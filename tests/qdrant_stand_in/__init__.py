"""A test double of a Qdrant server: its HTTP interface over the real engine (`qdrant-edge-py`).

No Qdrant server can be installed where the tests run. This one speaks the endpoints that the portal
uses, answers from the same engine, and holds every request, and its own answers, against Qdrant's
OpenAPI document in `vendor/`. It is no server to work with; `tests/l0` asks a real one.
"""

from __future__ import annotations

from tests.qdrant_stand_in.server import QdrantStandIn

__all__ = ["QdrantStandIn"]
