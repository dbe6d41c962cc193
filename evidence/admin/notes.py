"""A source note as a person reads it, with the passages that units quote."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.safestring import SafeString

from evidence.admin.passages import Passage, highlight
from evidence.admin.rendering import render_markdown
from evidence.domain.formats import render_source
from evidence.domain.normalization import InvalidUtf8, normalize_source
from evidence.domain.sections import SourceUnreadable


def note_html(path: str, data: bytes, passages: Sequence[Passage] = ()) -> SafeString:
    """Give clean HTML of a note with passages marked; a broken file is shown as far as it goes."""
    try:
        text = render_source(path, normalize_source(data))
    except (InvalidUtf8, SourceUnreadable):
        text = data.decode("utf-8", "replace")
    return highlight(render_markdown(text), passages)
