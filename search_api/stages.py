"""The stages of a session, in their order, and the purpose each asks evidence for (spec 60)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from evidence.domain.units import EvidencePurpose
from evidence.messages import gettext_noop


class Stage(StrEnum):
    """A step of a harness that asks for evidence, in the order a session takes them."""

    CLARIFICATION = gettext_noop("clarification")
    REWRITING = gettext_noop("rewriting")
    SCHEMA_LINKING = gettext_noop("schema_linking")
    CTE = gettext_noop("cte")
    FINAL_SQL = gettext_noop("final_sql")


PURPOSES: Final[Mapping[Stage, EvidencePurpose]] = MappingProxyType(
    {
        Stage.CLARIFICATION: EvidencePurpose.DISAMBIGUATION,
        Stage.REWRITING: EvidencePurpose.REWRITING,
        Stage.SCHEMA_LINKING: EvidencePurpose.SCHEMA_LINKING,
        Stage.CTE: EvidencePurpose.SQL_GENERATION,
        Stage.FINAL_SQL: EvidencePurpose.SQL_GENERATION,
    }
)
ORDER: Final = tuple(Stage)
WITHOUT_EVIDENCE: Final = frozenset({"memory", "synthesis"})
"""Stages that a harness has too, and that ask for no evidence."""


def purpose_of(stage: Stage) -> EvidencePurpose:
    """Give the one purpose that a stage asks for."""
    return PURPOSES[stage]


def position(stage: Stage) -> int:
    """Give the place of a stage in a session, from 0."""
    return ORDER.index(stage)


def onwards(stage: Stage) -> tuple[Stage, ...]:
    """Give a stage and all that come after it: what a step back to it forgets."""
    return ORDER[position(stage) :]
