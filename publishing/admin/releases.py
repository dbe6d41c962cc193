"""What an approver must see before they approve: the revision, what is new in it, and by whom."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from evidence import overview, tracing
from evidence.admin.changed_units import changed_units
from evidence.admin.head_findings import findings_of
from evidence.admin.unit_links import unit_links
from evidence.admin.wording import short
from evidence.messages import gettext_noop
from evidence.overview import RevisionSummary
from evidence.ports import Actor, RevisionUnknown
from evidence.tracing import UnitChange
from publishing import four_eyes, generations, preview
from publishing.admin import release_exam, release_replay
from publishing.admin.forms import ReleaseForm, VouchForm
from publishing.admin.new_commits import NewCommit, new_commits
from publishing.admin.wording import generation_badge, progress_words
from publishing.domain.duplicates import ALIKE
from publishing.domain.lifecycle import UNFINISHED
from publishing.overview import open_approval

COMMIT = re.compile("[0-9a-f]{40}")


def release_context(slug: str, revision: str | None, actor: Actor) -> dict[str, Any]:
    """Give the context of the release page. Raises `WorkspaceUnknown`, `RevisionUnknown`."""
    workspace = overview.workspace(slug)
    if revision is not None and not COMMIT.fullmatch(revision):
        raise RevisionUnknown(gettext_noop("This is not the full id of a commit."))
    summary = overview.revision(slug, revision or workspace.head)
    live = generations.active(slug)
    active = live.stored.revision if live else None
    authors = overview.authors_between(slug, active, summary.commit)
    changes = tracing.unit_changes(slug, active, summary.commit, authors=authors) if active else {}
    is_head = summary.commit == workspace.head
    return {
        "title": gettext("Publish revision %(revision)s") % {"revision": short(summary.commit)},
        "workspace": workspace,
        "summary": summary,
        "is_head": is_head,
        "active": active,
        "is_active": active == summary.commit,
        "units": changed_units(slug, active, summary.commit) if active else (),
        "findings": tuple(findings_of(slug)) if is_head else (),
        "open_approval": open_approval(slug),
        "shown": ReleaseForm(initial=_seen(summary, workspace.head)),
        **_rehearsal(slug, summary, changes),
        **_people(slug, active, new_commits(slug, authors, actor)),
    }


def _seen(summary: RevisionSummary, head: str) -> dict[str, str]:
    """Give what the form holds, so that nothing else than what was seen is approved."""
    return {
        "revision": summary.commit,
        "content_digest": summary.content_digest,
        "head": head,
    }


def _rehearsal(
    slug: str, summary: RevisionSummary, changes: Mapping[str, UnitChange]
) -> dict[str, Any]:
    """Give how far a candidate of the revision has come, and its exam beside the present one."""
    shown = preview.preview_of(workspace=slug, summary=summary)
    named = release_exam.units_of(shown, changes) | release_replay.replayed_units(shown)
    links = unit_links(slug, named)
    candidate = shown.candidate
    return {
        "candidate": candidate,
        "candidate_badge": generation_badge(candidate.state) if candidate else "",
        "is_running": candidate is not None and candidate.state in UNFINISHED,
        "words": progress_words(candidate) if candidate else "",
        "preview": shown,
        "exam": release_exam.exam_rows(shown, changes, links) if shown.after else None,
        "duplicates": release_exam.duplicates(shown, links),
        "replayed": release_replay.replayed_rows(shown, links),
        "threshold": ALIKE,
    }


def _people(slug: str, active: str | None, commits: list[NewCommit]) -> dict[str, Any]:
    """Give who wrote what, and why the reader may not approve it, if so."""
    distinct = four_eyes.distinct_approver_required(workspace=slug, active=active)
    return {
        "commits": commits,
        "distinct": distinct,
        "own_words": distinct and any(each.is_own for each in commits),
        "own_vouch": distinct and any(each.is_own_vouch for each in commits),
        "unknown_author": distinct and any(each.is_unknown for each in commits),
        "vouch_form": VouchForm(),
    }
