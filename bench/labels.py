"""Small notes of our own and the units a careful reader makes of them: `bench/notes/*.yaml`.

A label names a unit's kind and its key facts: the term, the column with its values, the SQL, the
address, or words that the body must hold. `doubt` is the review item the unit must bear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evidence.domain.yaml_reader import read_yaml_mapping
from evidence.ports import RestructureCandidate

NOTES: Final = Path(__file__).with_name("notes")
Facts = Mapping[str, Any]
_COMMENT: Final = re.compile(r"--[^\n]*")


@dataclass(frozen=True, slots=True)
class Label:
    """One unit that a note should give."""

    kind: str
    facts: Facts

    def matches(self, found: RestructureCandidate) -> bool:
        """Tell whether a found unit has this kind and these facts."""
        wanted = dict(self.facts)
        doubt, says = wanted.pop("doubt", None), wanted.pop("says", ())
        return (
            found.kind == self.kind
            and (doubt is None or doubt in {item.code for item in found.review_items})
            and all(words in found.body for words in says)
            and _folded(wanted) == _folded(_READ[self.kind](found.payload))
        )


@dataclass(frozen=True, slots=True)
class LabelledNote:
    """A note, its language, and what it should give; a negative note gives nothing."""

    name: str
    language: str
    text: str
    labels: tuple[Label, ...]


def labelled_notes() -> Iterator[LabelledNote]:
    """Give every note in the order of files and of names within them."""
    for path in sorted(NOTES.glob("*.yaml")):
        for name, entry in read_yaml_mapping(path.read_text(encoding="utf-8")).items():
            units = (unit for each in entry["units"] for unit in each.items())
            labels = tuple(Label(kind, facts) for kind, facts in units)
            yield LabelledNote(f"{path.stem}/{name}", entry["language"], entry["note"], labels)


_READ: Final[Mapping[str, Callable[[Facts], Facts]]] = {
    "glossary": lambda said: {"term": said["term"]},
    "domain": lambda _: {},
    "enum": lambda said: {
        "column": said["column"],
        "values": {each["value"]: each["meaning"] for each in said["values"]},
    },
    "example": lambda said: {"sql": said["sql"]},
    "mapping": lambda said: {
        "term": said["term"],
        "columns": [target["column"] for target in said["targets"]],
    },
    "normalization": lambda said: {
        "rules": {rule["match"]: rule["replacement"] for rule in said["rules"]}
    },
    "formula": lambda said: {"concept": said["concept"], "sql": said["sql"]},
    "reference": lambda said: {"url": said["url"]},
}


def _folded(facts: Facts) -> dict[str, Any]:
    """Give facts without what does not matter: case of terms, layout of SQL, order of columns."""
    folded = dict(facts)
    for name in {"term", "concept"} & folded.keys():
        folded[name] = folded[name].casefold()
    if "sql" in folded:
        folded["sql"] = " ".join(_COMMENT.sub("", folded["sql"]).split())
    if "columns" in folded:
        folded["columns"] = sorted(folded["columns"])
    return folded
