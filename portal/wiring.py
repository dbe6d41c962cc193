"""The ports that look upward: what a package below may ask of one above it."""

from __future__ import annotations

from publishing import plugged
from search_api.question_log import SearchQuestionLog


def plug_in() -> None:
    """Let publishing ask what people asked lately."""
    plugged.fill(SearchQuestionLog())
