"""Make, find, rotate and revoke API keys (spec 60, Keys)."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from publishing.recent import REMEMBER_S, Recent
from search_api.models import ApiKey, KeyRole

OVERLAP: Final = timedelta(hours=24)
"""How long a rotated key keeps working, unless it expires before."""
LAST_USE_EVERY: Final = timedelta(minutes=1)
"""A busy key writes its last use once a minute, not once a request."""
MAX_WORKSPACES: Final = 50
_ALPHABET: Final = string.ascii_lowercase + string.digits
_TOKEN: Final = re.compile(r"tht_(?P<prefix>[a-z0-9]{8})_(?P<secret>[A-Za-z0-9_-]{43})", re.ASCII)
_NO_DIGEST: Final = "0" * 64
_PREFIX: Final = re.compile(r"[a-z0-9]{1,12}", re.ASCII)
_LATELY: Final[Recent[str, ApiKey | None]] = Recent()
_SLUG: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)


class KeyRefused(CuratorFault):
    """No such key, or one that expired or was revoked; which of them is not said."""

    code = "key_unknown"


class KeyNotFound(CuratorFault):
    """An operator names a prefix that no key has."""

    code = "key_not_found"


class KeyUnusable(CuratorFault):
    """A key cannot be made like this, or a dead one cannot be rotated."""

    code = "key_unusable"


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made: its row, and the token that is shown once and kept by nobody here."""

    row: ApiKey
    token: str = field(repr=False)


def create(
    *,
    workspaces: Sequence[str],
    role: KeyRole,
    now: datetime,
    label: str = "",
    expires_at: datetime | None = None,
) -> NewKey:
    """Make a key for one or more workspaces, given by slug. Raises `KeyUnusable`."""
    slugs = sorted(set(workspaces))
    if not 0 < len(slugs) <= MAX_WORKSPACES or not all(map(_SLUG.fullmatch, slugs)):
        raise KeyUnusable(
            Message(
                gettext_noop("A key needs 1 to %(most)s workspaces, named by their slugs."),
                most=MAX_WORKSPACES,
            )
        )
    if expires_at is not None and expires_at <= now:
        raise KeyUnusable(Message(gettext_noop("A key cannot expire before it is made.")))
    row = ApiKey(
        role=role.value, workspaces=slugs, label=label, created_at=now, expires_at=expires_at
    )
    return _with_secret(row)


def _with_secret(row: ApiKey) -> NewKey:
    secret = secrets.token_urlsafe(32)
    row.prefix = "".join(secrets.choice(_ALPHABET) for _ in range(8))
    row.digest = _digest(secret)
    row.lineage = row.lineage or row.prefix
    row.save(force_insert=True)
    return NewKey(row=row, token=f"tht_{row.prefix}_{secret}")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def check(token: str, *, now: datetime) -> ApiKey:
    """Give the key behind a token and note its use. Raises `KeyRefused`.

    One SHA-256, whoever asks, and at most one indexed query: a key that was looked up within the
    last second costs none, and neither does what is not shaped like a key.
    """
    match = _TOKEN.fullmatch(token)
    row = _lately(match["prefix"]) if match else None
    offered = _digest(match["secret"]) if match else ""
    same = hmac.compare_digest(offered, row.digest if row else _NO_DIGEST)
    if row is None or not same or not row.is_valid(now):
        raise KeyRefused(
            Message(gettext_noop("The API key is missing, unknown, expired or revoked.")),
            hint=gettext_noop("Send it as `Authorization: Bearer tht_…` or as `X-API-Key`."),
        )
    _note_use(row, now)
    return row


def _lately(prefix: str) -> ApiKey | None:
    """Give a key as it was at most a second ago; one that is unknown is never remembered."""
    found = _LATELY.get(prefix, lambda: _row(prefix), for_s=_remember_s())
    if found is None:
        _LATELY.forget(prefix)
    return found


def _row(prefix: str) -> ApiKey | None:
    return ApiKey.objects.filter(prefix=prefix).first()


def _remember_s() -> float:
    return float(settings.SEARCH_API.get("remember_s", REMEMBER_S))


def _note_use(row: ApiKey, now: datetime) -> None:
    """Write the time, unless this or another process did so within the last minute."""
    due = now - LAST_USE_EVERY
    if row.last_used_at is None or row.last_used_at < due:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=due)
        ApiKey.objects.filter(stale, pk=row.pk).update(last_used_at=now)
        row.last_used_at = now


def listed() -> list[ApiKey]:
    """Give every key, newest first, dead ones included."""
    return list(ApiKey.objects.all())


def rotate(*, prefix: str, now: datetime, overlap: timedelta = OVERLAP) -> NewKey:
    """Make a successor with the same rights; the old key works until `overlap` is over.

    Raises `KeyNotFound`, and `KeyUnusable` for a key that is revoked, expired or rotated already.
    """
    try:
        with transaction.atomic():
            return _succeed(_found(prefix), now=now, overlap=overlap)
    except IntegrityError as error:  # two rotations at once: the second finds a successor
        raise _dead(prefix) from error


def _succeed(old: ApiKey, *, now: datetime, overlap: timedelta) -> NewKey:
    if not old.is_valid(now) or ApiKey.objects.filter(replaces=old).exists():
        raise _dead(old.prefix)
    ends = min(old.expires_at or now + overlap, now + overlap)
    ApiKey.objects.filter(pk=old.pk).update(expires_at=ends)
    row = ApiKey(
        role=old.role,
        workspaces=old.workspaces,
        label=old.label,
        replaces=old,
        lineage=old.lineage,
        created_at=now,
        expires_at=old.expires_at,
    )
    return _with_secret(row)


def _dead(prefix: str) -> KeyUnusable:
    return KeyUnusable(
        Message(
            gettext_noop("The key %(prefix)s is revoked, expired or already rotated."),
            prefix=prefix,
        ),
        hint=gettext_noop("Make a new key with `tht keys create`."),
    )


def revoke(*, prefix: str, now: datetime) -> ApiKey:
    """End a key at once; ending it again keeps the first time. Raises `KeyNotFound`."""
    row = _found(prefix)
    ApiKey.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=now)
    row.refresh_from_db()
    return row


def _found(prefix: str) -> ApiKey:
    row = ApiKey.objects.filter(prefix=prefix).first() if _PREFIX.fullmatch(prefix) else None
    if row is None:
        raise KeyNotFound(
            Message(gettext_noop("There is no key %(prefix)s."), prefix=prefix),
            hint=gettext_noop("`tht keys list` shows them."),
        )
    return row
