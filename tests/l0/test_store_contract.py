"""The contract of `VectorStore` on a real server: the very tests that the other stores pass."""

from __future__ import annotations

from tests.contracts import test_vector_store as contract

# The tests come here by name and take this folder's `store`, which is on the real server.
globals().update({name: test for name, test in vars(contract).items() if name.startswith("test_")})
