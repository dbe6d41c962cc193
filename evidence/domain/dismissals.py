"""`dismissals.yaml`: the warnings that somebody looked at and dismissed (spec 20, Validation)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from evidence.domain.file_models import FileModel, Version, empty_list, read_model
from evidence.domain.identifiers import EVIDENCE_ID
from evidence.domain.problems import FieldRefused
from evidence.domain.subjects import CONFLICTING_ENUM, CONFLICTING_FORMULA, CONFLICTING_TERM
from evidence.domain.text import Line
from evidence.domain.yaml_writer import write_yaml
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

NEAR_DUPLICATE = "near_duplicate"
DISMISSIBLE = frozenset({NEAR_DUPLICATE, CONFLICTING_FORMULA, CONFLICTING_ENUM, CONFLICTING_TERM})
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")


class DismissalsInvalid(CuratorFault):
    """`dismissals.yaml` does not say what it must, so no warning counts as dismissed."""

    code = "dismissals_invalid"
    path = "dismissals.yaml"
    hint = gettext_noop("Correct dismissals.yaml, or restore it from Git.")


@dataclass(frozen=True, slots=True, order=True)
class Side:
    """One of the two units a warning is about: its id, and the hash of its normalized file."""

    evidence_id: str
    sha256: str


@dataclass(frozen=True, slots=True, order=True)
class Dismissal:
    """One dismissed warning; it holds for these two texts, and lapses when either changes."""

    code: str
    first: Side
    second: Side

    @classmethod
    def of(cls, code: str, one: Side, other: Side) -> Dismissal:
        """Give the dismissal of a warning about two units, whichever comes first."""
        first, second = sorted((one, other))
        return cls(code, first, second)

    @property
    def line(self) -> str:
        """Give the one line that stands for it in the file."""
        sides = (self.first, self.second)
        return " ".join((self.code, *(f"{side.evidence_id} {side.sha256}" for side in sides)))

    def is_about(self, other: Dismissal) -> bool:
        """Tell whether another one is of the same warning about the same two units."""
        return (self.code, self.first.evidence_id, self.second.evidence_id) == (
            other.code,
            other.first.evidence_id,
            other.second.evidence_id,
        )


Dismissals = frozenset[Dismissal]


def _dismissal(line: str) -> Dismissal:
    code, *sides = line.split()
    ids, digests = sides[::2], sides[1::2]
    if (
        code not in DISMISSIBLE
        or len(ids) != 2
        or len(digests) != 2
        or not all(map(EVIDENCE_ID.match, ids))
        or not all(map(_DIGEST.match, digests))
    ):
        template = gettext_noop("Written: a code, then id and sha256: hash of each of two units.")
        raise FieldRefused(Message(template))
    return Dismissal.of(code, *map(Side, ids, digests))


class DismissalsFile(FileModel):
    """The shape of the file: one line a dismissal."""

    schema_version: Version
    dismissals: Annotated[
        tuple[Annotated[Line, AfterValidator(_dismissal)], ...],
        Field(strict=False, max_length=20_000),
        BeforeValidator(empty_list),
    ] = ()


def parse_dismissals(text: str) -> Dismissals:
    """Read the dismissals of a workspace, in any order. Raises `DismissalsInvalid`."""
    file = read_model(DismissalsFile, text, DismissalsInvalid)
    return frozenset(file.dismissals)  # type: ignore[arg-type] # the validator makes them


def dump_dismissals(dismissals: Iterable[Dismissal]) -> str:
    """Write the dismissals, sorted, one a line."""
    lines = [dismissal.line for dismissal in sorted(set(dismissals))]
    return write_yaml({"schema_version": 1, "dismissals": lines})


def with_dismissal(dismissals: Dismissals, added: Dismissal) -> Dismissals:
    """Give the dismissals with one more, which takes the place of a lapsed one like it."""
    return frozenset(each for each in dismissals if not each.is_about(added)) | {added}
