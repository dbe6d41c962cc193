"""The ports that look upward: what a package below may ask of one above it."""

from __future__ import annotations

from evidence import plugged as evidence_plugged
from publishing import plugged
from search_api.gaps import GapQuestions
from search_api.question_log import SearchQuestionLog
from search_api.usage import ReceiptUsage


def plug_in() -> None:
    """Let publishing ask what was asked and say what an exam asks, and evidence who was told."""
    plugged.fill(SearchQuestionLog())
    plugged.fill_open(GapQuestions())
    evidence_plugged.fill_usage(ReceiptUsage())
