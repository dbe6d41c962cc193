"""The commits that would be published with a revision: whose words, from where, who vouches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evidence.overview import CommitAuthor
from evidence.ports import Actor
from publishing import four_eyes
from publishing.four_eyes import Writers
from publishing.models import Vouch


@dataclass(frozen=True, slots=True)
class NewCommit:
    """One commit as the release page shows it; `vouch` is an operator's word for it."""

    commit: str
    title: str
    author: str
    at: datetime | None
    is_own: bool
    is_own_vouch: bool
    is_outside: bool
    is_unknown: bool
    """Its author is no user, and nobody vouched."""
    vouch: Vouch | None


def new_commits(slug: str, authors: Sequence[CommitAuthor], actor: Actor) -> list[NewCommit]:
    """Give the commits, newest first, as somebody sees them; three queries."""
    vouches = {row.commit: row for row in Vouch.objects.filter(workspace=slug)}
    return [
        _shown(author, writers, vouches.get(author.commit), actor)
        for author, writers in zip(authors, four_eyes.writers_of(slug, authors), strict=True)
    ]


def _shown(author: CommitAuthor, writers: Writers, vouch: Vouch | None, actor: Actor) -> NewCommit:
    return NewCommit(
        commit=author.commit,
        title=author.title,
        author=author.name or author.username or author.email,
        at=author.at,
        is_own=actor.username in writers.names,
        is_own_vouch=actor.username == writers.vouched_by,
        is_outside=author.username is None,
        is_unknown=not writers.is_known and not writers.vouched_by,
        vouch=vouch,
    )
