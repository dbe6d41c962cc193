"""What an approver must see before they approve: the revision, what is new in it, and by whom."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from evidence import overview
from evidence.admin.changed_units import changed_units
from evidence.admin.wording import short
from evidence.messages import gettext_noop
from evidence.overview import CommitAuthor
from evidence.ports import Actor, RevisionUnknown
from publishing import four_eyes, generations
from publishing.admin.forms import ReleaseForm
from publishing.overview import open_approval

COMMIT = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class NewCommit:
    """One commit that would be published with the revision, and whose words it holds."""

    commit: str
    title: str
    author: str
    is_own: bool
    is_outside: bool
    is_known: bool


def preview(slug: str, revision: str | None, actor: Actor) -> dict[str, Any]:
    """Give the context of the release page. Raises `WorkspaceUnknown`, `RevisionUnknown`."""
    workspace = overview.workspace(slug)
    if revision is not None and not COMMIT.fullmatch(revision):
        raise RevisionUnknown(gettext_noop("This is not the full id of a commit."))
    summary = overview.revision(slug, revision or workspace.head)
    live = generations.active(slug)
    active = live.stored.revision if live else None
    commits = _commits(slug, overview.authors_between(slug, active, summary.commit), actor)
    distinct = four_eyes.distinct_approver_required(workspace=slug, active=active)
    initial = {
        "revision": summary.commit,
        "content_digest": summary.content_digest,
        "head": workspace.head,
    }
    return {
        "title": gettext("Publish revision %(revision)s") % {"revision": short(summary.commit)},
        "workspace": workspace,
        "summary": summary,
        "is_head": summary.commit == workspace.head,
        "active": active,
        "is_active": active == summary.commit,
        "commits": commits,
        "units": changed_units(slug, active, summary.commit) if active else (),
        "distinct": distinct,
        "own_words": distinct and any(each.is_own for each in commits),
        "unknown_author": distinct and not all(each.is_known for each in commits),
        "open_approval": open_approval(slug),
        "shown": ReleaseForm(initial=initial),
    }


def _commits(slug: str, authors: Sequence[CommitAuthor], actor: Actor) -> list[NewCommit]:
    return [
        NewCommit(
            commit=author.commit,
            title=author.title,
            author=author.name or author.username or author.email,
            is_own=actor.username in writers.names,
            is_outside=author.username is None,
            is_known=writers.is_known,
        )
        for author, writers in zip(authors, four_eyes.writers_of(slug, authors), strict=True)
    ]
