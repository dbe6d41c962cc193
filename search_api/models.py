"""Who may ask, what they were told in which stage, what they propose, and what found no answer."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evidence.messages import gettext_noop
from search_api.stages import Stage

STAGES: Final = [(stage.value, _(stage.value)) for stage in Stage]


class KeyRole(StrEnum):
    """What a key may do; none may approve, activate, or change evidence (spec 60, Keys)."""

    READER = gettext_noop("reader")
    WRITER = gettext_noop("writer")

    @classmethod
    def choices(cls) -> list[tuple[str, str | Promise]]:
        """Give pairs for a model field."""
        return [(role.value, _(role.value)) for role in cls]


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
    lineage = models.CharField(max_length=12, editable=False, default="")
    """Prefix of the first key of this chain of rotations: who owns a session."""
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


class HarnessSession(models.Model):
    """One question that a harness works on; it belongs to the key that first wrote it."""

    workspace = models.CharField(_("workspace"), max_length=80)
    name = models.CharField(_("session"), max_length=100)
    owner = models.CharField(_("key"), max_length=12)
    """The lineage of the key, so that rotating it keeps the session."""
    created_at = models.DateTimeField(_("first seen"))
    written_at = models.DateTimeField(_("last written"))

    class Meta:
        """Of two first writers the database takes one."""

        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        ordering = ("-written_at",)
        constraints = [
            models.UniqueConstraint(fields=("workspace", "name"), name="one_session_a_name"),
        ]

    def __str__(self) -> str:
        """Show the name the harness gave it."""
        return self.name


class ReceiptRecord(models.Model):
    """What one stage of a session was answered: ids and the generation, never a text."""

    session = models.ForeignKey(
        HarnessSession, models.CASCADE, related_name="receipts", verbose_name=_("session")
    )
    stage = models.CharField(_("stage"), max_length=20, choices=STAGES)
    purpose = models.CharField(_("purpose"), max_length=20)
    generation = models.UUIDField(_("generation"))
    evidence_ids = models.JSONField(_("units"), default=list)
    stored_at = models.DateTimeField(_("stored"))

    class Meta:
        """A retry replaces: one a stage."""

        verbose_name = _("receipt")
        verbose_name_plural = _("receipts")
        constraints = [
            models.UniqueConstraint(fields=("session", "stage"), name="one_receipt_a_stage"),
        ]

    def __str__(self) -> str:
        """Show the stage."""
        return self.stage


class ReturnedUnit(models.Model):
    """One unit of one receipt, so that a unit's page finds who was told it without a scan."""

    receipt = models.ForeignKey(ReceiptRecord, models.CASCADE, related_name="units")
    workspace = models.CharField(max_length=80)
    evidence_id = models.CharField(max_length=100)

    class Meta:
        """Looked up by unit."""

        indexes = [models.Index(fields=("workspace", "evidence_id"), name="returned_by_unit")]

    def __str__(self) -> str:
        """Show the id."""
        return self.evidence_id


class ProposalState(models.TextChoices):
    """What an expert made of a formula that a session proposed."""

    OPEN = "open", _("waits for an expert")
    DRAFTING = "drafting", _("being made a unit")
    DRAFTED = "drafted", _("became a unit")
    DISMISSED = "dismissed", _("dismissed")


class FormulaProposal(models.Model):
    """A formula that a session made or changed; never searchable, read by experts alone."""

    session = models.ForeignKey(
        HarnessSession, models.CASCADE, related_name="formula_proposals", verbose_name=_("session")
    )
    workspace = models.CharField(_("workspace"), max_length=80)
    stage = models.CharField(_("stage"), max_length=20, choices=STAGES)
    concept = models.CharField(_("concept"), max_length=200)
    sql = models.TextField(_("SQL expression"))
    columns = models.JSONField(_("columns"), default=list)
    rationale = models.TextField(_("why"), blank=True)
    origin = models.CharField(_("origin"), max_length=12)
    decision = models.CharField(_("decision in the session"), max_length=10)
    proposed_at = models.DateTimeField(_("proposed"))
    state = models.CharField(
        _("state"), max_length=10, choices=ProposalState.choices, default=ProposalState.OPEN
    )
    withdrawn_at = models.DateTimeField(_("withdrawn"), null=True)
    """The session stepped back behind it after an expert took it over."""
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True)
    decided_at = models.DateTimeField(_("decided"), null=True)
    reason = models.TextField(_("reason"), blank=True)
    evidence_id = models.CharField(_("unit"), max_length=100, blank=True)

    class Meta:
        """Newest first."""

        verbose_name = _("proposed formula")
        verbose_name_plural = _("proposed formulas")
        ordering = ("-proposed_at", "-pk")
        indexes = [models.Index(fields=("workspace", "state"), name="proposals_by_state")]

    def __str__(self) -> str:
        """Show the concept."""
        return self.concept


class SearchLogEntry(models.Model):
    """One search and how it went; swept after some days."""

    workspace = models.CharField(_("workspace"), max_length=80)
    at = models.DateTimeField(_("asked"), db_index=True)
    question = models.TextField(_("question"), blank=True)
    """Empty where the operator does not want questions kept."""
    question_key = models.CharField(max_length=64, blank=True)
    purpose = models.CharField(_("purpose"), max_length=20)
    code = models.CharField(_("outcome"), max_length=40)
    """`available`, or why it was not."""
    confidence = models.CharField(_("confidence"), max_length=10, blank=True)
    result_count = models.PositiveSmallIntegerField(_("results"), default=0)
    best_dense = models.FloatField(_("best similarity"), null=True)
    lexical_hits = models.PositiveIntegerField(_("words found"), default=0)
    generation = models.UUIDField(_("generation"), null=True)
    key_prefix = models.CharField(_("key"), max_length=12, blank=True)
    context = models.JSONField(_("context"), default=dict)
    """As asked, without what is empty; with `top_n` what a replay needs besides the question."""
    top_n = models.PositiveSmallIntegerField(default=10)
    request_key = models.CharField(max_length=64, blank=True)
    """What equal requests share; empty where a search is not kept whole (`question_log`)."""

    class Meta:
        """Newest first."""

        verbose_name = _("search")
        verbose_name_plural = _("searches")
        ordering = ("-at", "-pk")
        indexes = [models.Index(fields=("workspace", "at"), name="searches_by_time")]

    def __str__(self) -> str:
        """Show how it went."""
        return self.code


class GapState(models.TextChoices):
    """Whether a question still waits for knowledge."""

    OPEN = "open", _("waits for knowledge")
    ANSWERED = "answered", _("answered since")
    NOTED = "noted", _("a note was written")
    EXAMINED = "examined", _("asked in the exam")
    DISMISSED = "dismissed", _("set aside")


class Gap(models.Model):
    """A question that found nothing or little, however often and however it was typed."""

    workspace = models.CharField(_("workspace"), max_length=80)
    question_key = models.CharField(max_length=64)
    question = models.TextField(_("question"))
    purpose = models.CharField(_("purpose"), max_length=20)
    """Of the last time, as are the two below."""
    result_count = models.PositiveSmallIntegerField(_("results"), default=0)
    best_dense = models.FloatField(_("best similarity"), null=True)
    times_asked = models.PositiveIntegerField(_("times asked"), default=1)
    first_asked_at = models.DateTimeField(_("first asked"))
    last_asked_at = models.DateTimeField(_("last asked"), db_index=True)
    answered_at = models.DateTimeField(_("answered with grounds"), null=True)
    """When it last was, if it was not weak again since; whatever the state."""
    state = models.CharField(
        _("state"), max_length=10, choices=GapState.choices, default=GapState.OPEN
    )
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True)
    note_path = models.CharField(_("note"), max_length=1_000, blank=True)

    class Meta:
        """What is asked most comes first."""

        verbose_name = _("gap")
        verbose_name_plural = _("gaps")
        ordering = ("-times_asked", "-last_asked_at")
        constraints = [
            models.UniqueConstraint(fields=("workspace", "question_key"), name="one_gap_a_question")
        ]

    def __str__(self) -> str:
        """Show the question."""
        return self.question
