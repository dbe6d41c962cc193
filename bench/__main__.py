"""`python -m bench [name …]`: run every benchmark, print one table, keep the figures.

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

from bench.measured import Measured, show

BENCHMARKS: Final = ("sync", "search", "reading", "validation")
"""Modules of `bench` with a `measure() -> Measured`; imported once Django is set up."""
RESULTS: Final = Path(__file__).with_name("results.json")


def main(names: list[str]) -> int:
    """Give 0 when every ratio is within its target."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.environ["PORTAL_HOME"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
        django.setup()
        call_command("migrate", verbosity=0)
        found = [_measure(name) for name in names or BENCHMARKS]
    show(found)
    RESULTS.write_text(json.dumps([one.as_json() for one in found], indent=2) + "\n")
    return 0 if all(one.holds for one in found) else 1


def _measure(name: str) -> Measured:
    print(f"— {name}", flush=True)
    measured: Measured = import_module(f"bench.{name}").measure()
    return measured


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
