"""Who owns a session: the key that first wrote it, and the keys that were rotated from that one."""

from __future__ import annotations

from datetime import datetime

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from search_api.models import HarnessSession


class SessionOfAnotherKey(CuratorFault):
    """Another key wrote this session first; keys of the workspace may read it, not change it."""

    code = "session_of_another_key"


def claim(*, workspace: str, session: str, owner: str, now: datetime) -> HarnessSession:
    """Give a session to write to, made now if nobody did; called inside a transaction.

    The update locks the row until the transaction ends, on PostgreSQL as on SQLite, so the writes
    to one session come one after the other. Raises `SessionOfAnotherKey`.
    """
    HarnessSession.objects.bulk_create(
        [
            HarnessSession(
                workspace=workspace, name=session, owner=owner, created_at=now, written_at=now
            )
        ],
        ignore_conflicts=True,  # of two first writers the database takes one
    )
    mine = HarnessSession.objects.filter(workspace=workspace, name=session, owner=owner)
    if not mine.update(written_at=now):
        raise _of_another(session)
    return mine.get()


def refuse_foreign(*, workspace: str, session: str, owner: str) -> None:
    """Refuse early what `claim` would refuse after the work. Raises `SessionOfAnotherKey`."""
    rows = HarnessSession.objects.filter(workspace=workspace, name=session)
    if rows.exclude(owner=owner).exists():
        raise _of_another(session)


def exists(*, workspace: str, session: str) -> bool:
    """Tell whether anybody wrote to a session."""
    return HarnessSession.objects.filter(workspace=workspace, name=session).exists()


def _of_another(session: str) -> SessionOfAnotherKey:
    message = gettext_noop("The session %(session)s belongs to another key.")
    return SessionOfAnotherKey(Message(message, session=session))
