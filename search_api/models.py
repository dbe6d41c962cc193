"""API keys: who may ask, and for which workspaces. The secret itself is stored nowhere."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from django.db import models
from django.utils.translation import gettext_lazy as _

from evidence.messages import gettext_noop


class KeyRole(StrEnum):
    """What a key may do; none may approve, activate, or change evidence (spec 60, Keys)."""

    READER = gettext_noop("reader")
    WRITER = gettext_noop("writer")

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        """Give pairs for a model field."""
        return [(role.value, role.value) for role in cls]


class ApiKey(models.Model):
    """One key: a public prefix to find it by, and the SHA-256 of its secret."""

    prefix = models.CharField(_("prefix"), max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    """Lower-case hex. The secret has 256 random bits, so a slow hash would only slow good keys."""
    label = models.CharField(_("label"), max_length=100, blank=True)
    role = models.CharField(_("role"), max_length=10, choices=KeyRole.choices())
    workspaces = models.JSONField(_("workspaces"), default=list)
    """Slugs; evidence's rows are private to evidence."""
    replaces = models.OneToOneField(
        "self", models.SET_NULL, null=True, related_name="replaced_by", verbose_name=_("replaces")
    )
    """The key this one was rotated from, at most once: what that one owned, this one owns."""
    created_at = models.DateTimeField(_("created"))
    expires_at = models.DateTimeField(_("expires"), null=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True)
    last_used_at = models.DateTimeField(_("last used"), null=True)

    class Meta:
        """Newest first."""

        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ("-created_at", "prefix")

    def __str__(self) -> str:
        """Show what may be shown: the prefix."""
        return self.prefix

    def is_valid(self, now: datetime) -> bool:
        """Tell whether the key is neither revoked nor expired at `now`."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)
