"""Start one of the programs of this folder, with Django set up."""

from __future__ import annotations

import json
import sys
from importlib import import_module

import django


def main(name: str) -> None:
    django.setup()
    obey = import_module(f"tests.robustness.programs.{name}").obey
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(obey(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
