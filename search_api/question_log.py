"""The questions of the search log, for whoever wants to ask them again: publishing's port."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Max, Min, QuerySet

from publishing.ports import RecentQuestions
from publishing.retrieval import QuestionRefused, SearchRequest, build_request
from search_api import gaps
from search_api.models import SearchLogEntry

TEXT_SETTING: Final = "PORTAL_SEARCH_LOG_TEXT"
MAX_TEXT: Final = 2_000
MAX_CONTEXT: Final = 4_000
"""Characters of a question and of its context as JSON; a longer one is logged but not repeated."""


class SearchQuestionLog:
    """The log's questions as `publishing.ports.QuestionLog` gives them."""

    def recent(self, workspace: str, *, now: datetime, days: int, most: int) -> RecentQuestions:
        """Give the last questions, each once and as it was last asked; four queries."""
        kept_days = settings.SEARCH_API["log_days"]
        days = min(days, kept_days)
        if not settings.SEARCH_API["log_text"]:
            return RecentQuestions(days=days, off=TEXT_SETTING)
        since = now - timedelta(days=days)
        rows = SearchLogEntry.objects.filter(workspace=workspace, at__gte=since).order_by()
        whole = rows.exclude(request_key="")
        counted = whole.aggregate(distinct=Count("request_key", distinct=True), oldest=Min("at"))
        oldest = counted["oldest"]
        return RecentQuestions(
            days=days,
            questions=tuple(_requests(whole, most)),
            distinct=counted["distinct"],
            unrepeatable=rows.filter(request_key="").count(),
            until=oldest + timedelta(days=kept_days) if oldest else None,
        )


def repeatable(question: SearchRequest) -> dict[str, Any]:
    """Give the columns from which a search can be asked again; none where it is too long to keep.

    Searches share a `request_key` when purpose, words and context are equal, whatever the case and
    the spacing of the words.
    """
    context = question.context.model_dump(mode="json", exclude_defaults=True)
    said = json.dumps(context, sort_keys=True)
    if len(question.query) > MAX_TEXT or len(said) > MAX_CONTEXT:
        return {}
    parts = (question.purpose.value, gaps.key_of(question.query), said)
    return {
        "context": context,
        "top_n": question.top_n,
        "request_key": hashlib.sha256("\n".join(parts).encode()).hexdigest(),
    }


def _requests(whole: QuerySet[SearchLogEntry], most: int) -> Iterator[SearchRequest]:
    """Give the requests anew; one that is refused since, as of a purpose no longer known, is left.

    The newest row of each question says how it was last asked.
    """
    newest = whole.values("request_key").annotate(newest=Max("pk")).order_by("-newest")[:most]
    wanted = [each["newest"] for each in newest]
    for row in SearchLogEntry.objects.filter(pk__in=wanted).order_by("-pk"):
        try:
            yield build_request(
                {
                    "query": row.question,
                    "purpose": row.purpose,
                    "context": row.context,
                    "top_n": row.top_n,
                }
            )
        except QuestionRefused:
            continue
