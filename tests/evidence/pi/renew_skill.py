"""Write the schema of an answer into the skill: `python -m tests.evidence.pi.renew_skill`."""

from __future__ import annotations

import re

from evidence.adapters.skill import SKILL, answer_schema

QUOTED = re.compile(r'```json\n\{"\$ref".*?\n```', re.DOTALL)

if __name__ == "__main__":
    quoted = f"```json\n{answer_schema()}\n```"
    SKILL.write_text(QUOTED.sub(lambda _: quoted, SKILL.read_text(encoding="utf-8"), count=1))
