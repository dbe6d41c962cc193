"""Which revision may be approved: mirrored, publishable, as it was seen, not older (spec 50)."""

from __future__ import annotations

from evidence import blocking, overview
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.overview import RevisionSummary
from evidence.ports import RevisionUnknown
from publishing import generations


class NotPublishable(CuratorFault):
    """The revision has an error, an open review item or an orphan."""

    code = "not_publishable"
    hint = gettext_noop("Resolve what blocks it; `tht evidence validate` lists everything.")


class RevisionMoved(CuratorFault):
    """What would be approved is not what the approver saw."""

    code = "revision_moved"
    hint = gettext_noop("Look at the changes again, then approve.")


class OlderThanActive(CuratorFault):
    """An older revision than the active one is a rollback, which is another step."""

    code = "older_than_active"
    hint = gettext_noop("Roll back to a retained generation instead.")


def publishable(workspace: str, revision: str) -> RevisionSummary:
    """Give a mirrored revision, validated. Raises `RevisionUnknown`, `NotPublishable`."""
    summary = overview.revision(workspace, revision)
    if not summary.publishable:
        raise NotPublishable(_what_is_open(workspace, summary))
    return summary


def active_revision(workspace: str) -> str | None:
    """Give the revision of the active generation, or None."""
    active = generations.active(workspace)
    return active.stored.revision if active else None


def check_unmoved(
    workspace: str, summary: RevisionSummary, content_digest: str, head: str | None
) -> None:
    """Compare with what the approver saw; asked again inside the transaction that decides."""
    again = overview.revision(workspace, summary.commit)
    moved = head is not None and overview.workspace(workspace).head != head
    if moved or not again.publishable or again.content_digest != content_digest:
        raise RevisionMoved(
            Message(
                gettext_noop("The revision moved: %(revision)s is not what you looked at."),
                revision=summary.commit[:12],
            )
        )


def check_order(workspace: str, summary: RevisionSummary, active: str | None) -> None:
    """Refuse an older revision, and a pointer that moved since the authors were looked up."""
    if active_revision(workspace) != active:
        raise RevisionMoved(
            Message(gettext_noop("Another revision became active while you approved."))
        )
    if active is None:
        return
    try:
        position = overview.revision(workspace, active).position
    except RevisionUnknown:
        return  # An operator replaced the history: nothing in it is older than what was live.
    if summary.position < position:
        raise OlderThanActive(
            Message(
                gettext_noop("Revision %(revision)s is older than the active one, %(active)s."),
                revision=summary.commit[:12],
                active=active[:12],
            )
        )


def _what_is_open(workspace: str, summary: RevisionSummary) -> Message:
    """Count what blocks a revision, and name what comes first where the mirror holds it."""
    counts = {
        "revision": summary.commit[:12],
        "items": summary.open_review_items,
        "orphans": summary.orphans,
        "errors": summary.errors,
    }
    first = blocking.names(workspace, summary.commit)
    if not first:
        return Message(
            gettext_noop(
                "Revision %(revision)s cannot be published. Open review items: %(items)s;"
                " orphans: %(orphans)s; errors: %(errors)s."
            ),
            **counts,
        )
    return Message(
        gettext_noop(
            "Revision %(revision)s cannot be published. Open review items: %(items)s;"
            " orphans: %(orphans)s; errors: %(errors)s. First among them: %(first)s."
        ),
        **counts,
        first=", ".join(first),
    )
