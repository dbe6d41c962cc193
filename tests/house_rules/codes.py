"""The table of `docs/codes.md`, read from the code: `python -m tests.house_rules.codes`."""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import django

from evidence.faults import CuratorFault, Fault, OperatorFault, OutsideFault

PAGE = Path(__file__).resolve().parents[2] / "docs" / "codes.md"
PACKAGES = ("evidence", "publishing", "search_api", "portal")
ACTS: dict[type, str] = {
    CuratorFault: "the person editing or asking",
    OperatorFault: "who installed the portal",
    OutsideFault: "nobody: wait, then try again",
}
HEAD = """# Codes

Every refusal has a stable code. This page is written from the code itself
(`python -m tests.house_rules.codes`); the codes of validation findings are those of
`evidence.domain.findings`.

| code | who can act | what it means |
| --- | --- | --- |
"""


def import_everything() -> None:
    """Import every module of the four packages, so that every fault is known."""
    for name in PACKAGES:
        package = import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if ".migrations" not in module.name:
                import_module(module.name)


def faults(parent: type[Fault] = Fault) -> Iterator[type[Fault]]:
    """Give every fault class that the packages declare, the three kinds themselves left out."""
    for child in parent.__subclasses__():
        if child.__module__.split(".")[0] in PACKAGES and child not in ACTS:
            yield child
        yield from faults(child)


def sentence(fault: type[Fault]) -> str:
    """Give the first sentence of a fault's docstring, on one line."""
    return " ".join((fault.__doc__ or "").split("\n\n")[0].split())


def who_acts(fault: type[Fault]) -> str:
    """Say who can do something about a fault."""
    kind = next(parent for parent in fault.__mro__ if parent in ACTS)
    return ACTS[kind]


def page() -> str:
    """Give the whole page."""
    rows = {f"| `{fault.code}` | {who_acts(fault)} | {sentence(fault)} |" for fault in faults()}
    return HEAD + "\n".join(sorted(rows)) + "\n"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    import_everything()
    PAGE.write_text(page(), encoding="utf-8")
