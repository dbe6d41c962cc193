"""Who may call: a key in a header, its rate, its role and its workspaces (spec 60, Keys)."""

from __future__ import annotations

import time
from typing import Final

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import APIKeyHeader
from ninja.security.http import HttpAuthBase

from evidence.faults import CuratorFault, OutsideFault
from evidence.messages import Message, gettext_noop
from search_api import keys
from search_api.models import ApiKey, KeyRole

WINDOW_S: Final = 60
MAY: Final = {
    KeyRole.READER: frozenset({KeyRole.READER.value, KeyRole.WRITER.value}),
    KeyRole.WRITER: frozenset({KeyRole.WRITER.value}),
}
"""Which roles may do what needs a role: a writer reads too."""


class AccessRefused(CuratorFault):
    """The key is good, but not for this workspace or this operation; which of them is not said."""

    code = "access_refused"


class TooManyRequests(OutsideFault):
    """A key has asked too often in the current minute."""

    code = "too_many_requests"

    def __init__(self, retry_after_s: int) -> None:
        """Say in how many seconds the key may ask again."""
        super().__init__(Message(gettext_noop("This key has asked too often in this minute.")))
        self.retry_after_s = retry_after_s


def authorize(request: HttpRequest, token: str, needed: KeyRole) -> ApiKey:
    """Give the key of a request that may go on.

    Raises `KeyRefused`, `TooManyRequests`, `AccessRefused`. A workspace that does not exist is
    one the key is not for, so that names cannot be tried out.
    """
    key = keys.check(token, now=timezone.now())
    _count(key, now_s=int(time.time()))
    match = request.resolver_match
    workspace = match.kwargs.get("workspace") if match else None
    if key.role not in MAY[needed] or workspace not in key.workspaces:
        raise AccessRefused(Message(gettext_noop("This key may not do this here.")))
    return key


def _count(key: ApiKey, *, now_s: int) -> None:
    """Count a request of this minute. Only good keys are counted: bad ones cannot fill a cache."""
    window, elapsed = divmod(now_s, WINDOW_S)
    name = f"search_api.rate:{key.prefix}:{window}"
    cache.add(name, 0, timeout=2 * WINDOW_S)
    try:
        asked = cache.incr(name)
    except ValueError:  # dropped between the two calls by a full cache: start the minute again
        return
    if asked > settings.SEARCH_API["rate_limit"]:
        raise TooManyRequests(WINDOW_S - elapsed)


class BearerKey(HttpAuthBase):
    """`Authorization: Bearer tht_…`.

    Ninja's own `HttpBearer` writes an unexpected header to the log when DEBUG is on; a key must
    never be in a log, whatever word stands before it.
    """

    openapi_scheme = "bearer"

    def __init__(self, needed: KeyRole) -> None:
        """Take the role an operation needs."""
        super().__init__()
        self.needed = needed

    def __call__(self, request: HttpRequest) -> ApiKey | None:
        """Give the key, or None when the header is absent or of another scheme."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != self.openapi_scheme:
            return None
        return authorize(request, token.strip(), self.needed)


class HeaderKey(APIKeyHeader):
    """`X-API-Key: tht_…`."""

    param_name = "X-API-Key"

    def __init__(self, needed: KeyRole) -> None:
        """Take the role an operation needs."""
        super().__init__()
        self.needed = needed

    def authenticate(self, request: HttpRequest, key: str | None) -> ApiKey | None:
        """Give the key, or None when the header is absent."""
        return authorize(request, key.strip(), self.needed) if key else None


READER: Final = [BearerKey(KeyRole.READER), HeaderKey(KeyRole.READER)]
"""Either header, a key of any role."""
WRITER: Final = [BearerKey(KeyRole.WRITER), HeaderKey(KeyRole.WRITER)]
"""Either header, a writer's key."""


def require_writer(key: ApiKey) -> None:
    """Refuse a reader where only what is asked tells that something is written.

    Raises `AccessRefused`.
    """
    if key.role not in MAY[KeyRole.WRITER]:
        raise AccessRefused(Message(gettext_noop("This key may not do this here.")))


def key_of(request: HttpRequest) -> ApiKey:
    """Give the key that a request was let in with; Ninja keeps it as `request.auth`."""
    key: ApiKey = request.auth  # type: ignore[attr-defined]
    return key
