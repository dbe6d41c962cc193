"""What is stored beside a fragment's vectors: an exact allow-list of keys (spec 50)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from evidence.domain.units import EvidenceKind, EvidencePurpose
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop


class MalformedPayload(OperatorFault):
    """The store gave back a point that is not what was written."""

    code = "malformed_payload"


class FragmentPayload(BaseModel):
    """One fragment as the store keeps it; the field names are the exact allow-list."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    record_kind: Literal["evidence"] = "evidence"
    record_key: str
    workspace_id: str
    workspace_revision: str
    vector_generation: UUID
    document_id: str
    content_hash: str
    kind: Literal["evidence"] = "evidence"
    evidence_id: str
    evidence_kind: EvidenceKind
    purposes: tuple[EvidencePurpose, ...]
    concepts: tuple[str, ...]
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    language: str
    ordinal: int
    title: str
    text: str
    source_file: str
    source_sha256: str
    path: str

    def as_json(self) -> dict[str, object]:
        """Give the payload as plain JSON values, every key present."""
        return self.model_dump(mode="json")


PAYLOAD_KEYS = frozenset(FragmentPayload.model_fields)


def parse_payload(stored: Mapping[str, object] | None) -> FragmentPayload:
    """Read a payload that a store gave back.

    Raises `MalformedPayload` when a key is missing, unknown, or holds another type; the message
    names the keys and never the values.
    """
    if stored is None or stored.keys() != PAYLOAD_KEYS:
        keys = sorted(PAYLOAD_KEYS.symmetric_difference(stored or ()))
        raise _malformed(keys)
    try:
        return FragmentPayload.model_validate(stored)
    except ValidationError as error:
        raise _malformed(sorted({str(one["loc"][0]) for one in error.errors()})) from None


def _malformed(keys: list[str]) -> MalformedPayload:
    return MalformedPayload(
        Message(
            gettext_noop("A stored fragment is not what was written; it differs in: %(keys)s."),
            keys=", ".join(str(key)[:60] for key in keys[:10]),
        )
    )
