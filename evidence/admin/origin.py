"""Where a unit comes from: its note, with the passages it quotes marked."""

from __future__ import annotations

from typing import Any

from evidence.admin.files import source_bytes
from evidence.admin.notes import note_html
from evidence.admin.passages import Passage
from evidence.domain.units import CuratedEvidence
from evidence.models import SourceRecord, UnitRecord


def source_context(record: UnitRecord, unit: CuratedEvidence | None) -> dict[str, Any]:
    """Give `source`, its row if there is one, and `note`, its HTML if it can be shown."""
    row = (
        SourceRecord.objects.select_related("workspace")
        .filter(workspace=record.workspace_id, path=record.source_file)
        .first()
    )
    data = source_bytes(row) if row else None
    if unit is None or data is None:
        return {"source": row}
    excerpts = unit.provenance.supporting_excerpts
    passages = [Passage(text, "excerpt", record.title) for text in excerpts]
    return {"source": row, "note": note_html(record.source_file, data, passages)}
