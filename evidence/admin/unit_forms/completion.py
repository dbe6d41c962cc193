"""What a field of names is completed with: what the workspace's units already speak of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from evidence.models import UnitRecord, Workspace

MOST_UNITS: Final = 3_000
MOST_NAMES: Final = 400
_BEFORE_SCOPE: Final = 2  # the id and the title
_PART: Final = r'(?:[^\W\d][\w$]*|"(?:[^"]|"")+")'
_NAME: Final = re.compile(rf"{_PART}(?:\.{_PART}){{1,2}}\Z")
_COLUMN: Final = re.compile(rf"{_PART}\.{_PART}\.{_PART}\Z")


def names(workspace: Workspace) -> dict[str, list[str]]:
    """Give `concepts`, `tables` and `columns`, each with the most used ones first.

    One query, over the scopes that the mirror keeps line by line in a unit's words to search.
    """
    rows = UnitRecord.objects.filter(workspace=workspace).order_by("-changed_at", "path")
    found: dict[str, Counter[str]] = {name: Counter() for name in ("concepts", "tables", "columns")}
    for words in rows.values_list("search_text", flat=True)[:MOST_UNITS]:
        _count(found, words.split("\n")[_BEFORE_SCOPE:])
    return {
        name: [each for each, _ in seen.most_common(MOST_NAMES)] for name, seen in found.items()
    }


def _count(found: dict[str, Counter[str]], lines: Sequence[str]) -> None:
    """Count the scope of one unit: its concepts, then its tables and columns, then its body.

    What stands before the first name is a concept; without a name it could be the body as well.
    """
    named = [number for number, line in enumerate(lines) if _NAME.match(line)]
    if named:
        found["concepts"].update(lines[: named[0]])
    for number in named:
        name = lines[number]
        if _COLUMN.match(name):
            found["columns"][name] += 1
            name = name.rpartition(".")[0]
        found["tables"][name] += 1
