"""`docs/api.md`: every operation has examples, and every example runs against a live portal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.live import CHECKOUT, LivePortal

TEXT = (CHECKOUT / "docs" / "api.md").read_text()
SNAPSHOT = json.loads((CHECKOUT / "tests" / "snapshots" / "openapi.json").read_text())
EXAMPLES = [match.groups() for match in re.finditer(r"```(sh|python)\n(.*?)```", TEXT, re.DOTALL)]
PROGRAMS = {"sh": ("/bin/sh", "-c"), "python": (sys.executable, "-c")}


@pytest.fixture(scope="module")
def variables(live_portal: LivePortal) -> Mapping[str, str]:
    """Give what the document says the examples take from the environment."""
    made = live_portal.tht_json("keys", "create", "--workspace", "clinica-demo", "--role", "writer")
    found = live_portal.ask("Come distinguo i pazienti pediatrici?").json()
    named = {"PORTAL_URL": live_portal.address, "KEY": made["key"]}
    return {**os.environ, **named, "GENERATION": found["generation"]}


def test_every_operation_has_an_example_for_curl_and_one_for_python():
    for path, methods in SNAPSHOT["paths"].items():
        place = re.escape(path).replace(r"\{", "{").replace(r"\}", "}")
        wanted = re.sub(r"{\w+}", '[^/"?]+', place) + r"[\"?]"
        for method in methods:
            spoken = [
                language
                for language, example in EXAMPLES
                if re.search(wanted, example) and re.search(rf"\b{method.upper()}\b", example)
            ]
            assert spoken == ["sh", "python"], (method, path)


def test_the_examples_do_what_they_say(variables):
    for language, example in EXAMPLES:
        done = subprocess.run(
            [*PROGRAMS[language], example],
            env=dict(variables),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (example, done.stdout, done.stderr)
