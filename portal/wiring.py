"""The ports that look upward: what a package below may ask of one above it."""

from __future__ import annotations

from evidence import plugged as evidence_plugged
from publishing import plugged
from search_api.question_log import SearchQuestionLog
from search_api.usage import ReceiptUsage


def plug_in() -> None:
    """Let publishing ask what people asked lately, and evidence who was told a unit."""
    plugged.fill(SearchQuestionLog())
    evidence_plugged.fill_usage(ReceiptUsage())
