"""Values that dbt's `accepted_values` tests allow, as a note's fenced YAML shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.adapters.rules.drafts import Draft
from evidence.adapters.rules.names import bare, columns_in
from evidence.adapters.rules.note import Note
from evidence.adapters.rules.outline import Section, Shape
from evidence.adapters.rules.spans import Span
from evidence.adapters.rules.values import Value, enum_of
from evidence.domain.units import EvidenceKind

YAML_NAMES = frozenset({"yaml", "yml"})
_NAME = re.compile(r"^[ \t]*-?[ \t]*name:[ \t]*(?P<name>\S+)[ \t]*$", re.MULTILINE)
_TEST = re.compile(
    r"^[ \t]*-[ \t]*(?:dbt_\w+\.)?accepted_values:\s*(?:arguments:\s*)?"
    r"values:[ \t]*(?:\[(?P<flow>[^\]]{1,2000})\]|(?P<list>(?:\n[ \t]*-[ \t]+[^\n:]{1,100})+))",
    re.MULTILINE,
)


def accepted_values(section: Section, note: Note) -> Iterator[Draft]:
    """Give one draft per test: an enum of the column it is named after, else a doubt in words.

    The test names no meanings, so that each value stands for its own until a curator says more.
    """
    for block in section.blocks:
        if block.shape is Shape.FENCE and block.info in YAML_NAMES:
            for match in _TEST.finditer(block.span.text):
                names = list(_NAME.finditer(block.span.text, 0, match.start()))
                if names:
                    place = block.span.part(names[-1].start(), match.end())
                    yield from _of_test(names[-1]["name"], match, place, note)


def _of_test(name: str, match: re.Match[str], place: Span, note: Note) -> Iterator[Draft]:
    columns = columns_in(name)
    values = [Value(each, each, place) for each in _values(match)]
    if columns:
        for draft in enum_of(columns[0], values, note):
            yield draft.doubting("ambiguous_statement")
    elif values and note.is_free(place):
        yield Draft(
            kind=EvidenceKind.DOMAIN,
            title=f"{name}: {', '.join(value.value for value in values)}",
            payload={"topic": bare(name)},
            spans=(place,),
            body=f"```yaml\n{place.text}\n```",
            doubts=("kind_inferred", "column_unknown"),
        )


def _values(match: re.Match[str]) -> Iterator[str]:
    items = match["flow"].split(",") if match["flow"] else match["list"].splitlines()
    for item in items:
        value = item.strip().removeprefix("- ").strip().strip("'\"")
        if value:
            yield value
