"""Ways to prepare a folder: by the rules, or by the real Pi that asks a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evidence.adapters.rules.restructurer import RulesRestructurer
from evidence.adapters.wire import write_answer
from evidence.domain.units import CuratedEvidence, build_unit
from evidence.ports import RestructureRequest
from tests.evidence.pi.endpoint import Endpoint, an_endpoint
from tests.evidence.pi.real_pi import a_real_pi

PROJECT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Way:
    """How `tht evidence` is run: by which restructurer, and with which settings."""

    restructurer: str
    settings: Mapping[str, str] = field(default_factory=dict)
    endpoint: Endpoint | None = None

    def tht(self, *arguments: object) -> tuple[int, dict[str, Any]]:
        """Run `tht evidence … --json` as a process; give its exit code and what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "portal.cli", "evidence", *map(str, arguments), "--json"],
            env=self._environment(),
            capture_output=True,
            check=False,
        )
        return done.returncode, json.loads(done.stdout)

    @property
    def asked(self) -> int:
        """Count the questions that reached the model so far."""
        return len(self.endpoint.bodies) if self.endpoint else 0

    def _environment(self) -> dict[str, str]:
        base = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT)}
        return base | {"PORTAL_RESTRUCTURER": self.restructurer} | dict(self.settings)


RULES = Way("rules")


@contextmanager
def pi_and_a_scripted_model(folder: Path) -> Iterator[Way]:
    """Serve a model on loopback that reads a note as the rules do, and give Pi that asks it."""
    with an_endpoint(as_the_rules_read) as endpoint:
        settings = {
            "PORTAL_HOME": str(folder / "home"),
            "PORTAL_PI_EXECUTABLE": str(a_real_pi(folder)),
            "PORTAL_PI_PROVIDER": "scripted",
            "PORTAL_PI_MODEL": "scripted-35b",
            "PORTAL_PI_TIMEOUT_S": "60",
            "PORTAL_PI_ENV": "SCRIPTED_API_KEY",
            "PORTAL_PI_AGENT_DIR": str(endpoint.agent_folder(folder / "agent")),
            "SCRIPTED_API_KEY": "a-key",
        }
        yield Way("pi", settings, endpoint)


def pi_program(program: Path, home: Path, *, timeout_s: float = 20) -> Way:
    """Give the way that starts this program for Pi."""
    settings = {
        "PORTAL_HOME": str(home),
        "PORTAL_PI_EXECUTABLE": str(program),
        "PORTAL_PI_TIMEOUT_S": str(timeout_s),
    }
    return Way("pi", settings)


def as_the_rules_read(request: Mapping[str, Any]) -> str:
    """Answer a request, as Pi was handed it, with what the rules find in the note."""
    asked = RestructureRequest(
        source_file=request["source_file"],
        source_sha256=request["source_sha256"],
        normalized_text=request["normalized_text"],
        language=request["language"],
        previous_units=tuple(_unit(each, request) for each in request["previous_units"]),
    )
    return write_answer(RulesRestructurer().restructure(asked)).decode()


def _unit(previous: Mapping[str, Any], request: Mapping[str, Any]) -> CuratedEvidence:
    own = {
        name: value for name, value in previous.items() if name not in {"existing_id", "excerpts"}
    }
    provenance = {
        "source_file": request["source_file"],
        "source_sha256": request["source_sha256"],
        "supporting_excerpts": previous["excerpts"],
    }
    identity = {"schema_version": "1", "id": previous["existing_id"], "provenance": provenance}
    return build_unit(own | identity)
