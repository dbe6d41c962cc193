"""`python -m bench [name …]`: run every benchmark, print their tables, keep the figures.

All run in one process over a home and a database of their own; the figures go to
`bench/results.json`, which Git ignores.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Final

import django
from django.core.management import call_command
from rich.console import Console

from bench.measured import Finding, Measured, Several, show
from bench.rules import Accuracy

BENCHMARKS: Final = (
    "sync",
    "saves",
    "search",
    "search_log",
    "reading",
    "validation",
    "preparation",
    "republish",
    "republish_model",
    "rules",
)
"""Modules of `bench` with a `measure() -> Finding`; imported once Django is set up."""
RESULTS: Final = Path(__file__).with_name("results.json")


def main(names: list[str]) -> int:
    """Give 0 when every ratio is within its target."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.environ["PORTAL_HOME"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
        django.setup()
        call_command("migrate", verbosity=0)
        found = [_measure(name) for name in names or BENCHMARKS]
    show([row for one in found for row in _rows(one)])
    for one in found:
        if isinstance(one, Accuracy):
            Console().print(one.table())
    RESULTS.write_text(json.dumps([one.as_json() for one in found], indent=2) + "\n")
    return 0 if all(one.holds for one in found) else 1


def _rows(found: Finding) -> tuple[Measured, ...]:
    if isinstance(found, Several):
        return found.rows
    return (found,) if isinstance(found, Measured) else ()


def _measure(name: str) -> Finding:
    print(f"— {name}", flush=True)
    found: Finding = import_module(f"bench.{name}").measure()
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
