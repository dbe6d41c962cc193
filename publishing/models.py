"""Approvals, generations and their exams; `workspace` is the slug, since the mirror is private."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from publishing.domain.lifecycle import ApprovalState, GenerationState


class Approval(models.Model):
    """A person's word that one revision may be published."""

    workspace = models.CharField(_("workspace"), max_length=80)
    revision = models.CharField(_("revision"), max_length=40)
    content_digest = models.CharField(max_length=80)
    state = models.CharField(_("state"), max_length=12, choices=ApprovalState.choices())
    approved_by = models.CharField(_("approved by"), max_length=150)
    approved_at = models.DateTimeField(_("approved"))
    note = models.TextField(_("note"), blank=True)
    closed_at = models.DateTimeField(_("closed"), null=True)
    outcome = models.TextField(_("outcome"), blank=True)

    class Meta:
        """The database decides between two simultaneous approvals."""

        verbose_name = _("approval")
        verbose_name_plural = _("approvals")
        ordering = ("-approved_at",)
        permissions = [("approve_revision", _("Can approve a revision and roll back"))]
        constraints = [
            models.UniqueConstraint(
                fields=("workspace",),
                condition=Q(state=ApprovalState.OPEN.value),
                name="one_open_approval_a_workspace",
            ),
        ]

    def __str__(self) -> str:
        """Show the revision, shortened."""
        return self.revision[:12]


class Generation(models.Model):
    """All fragments of one revision in the vector store, and how far they have come."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.CharField(_("workspace"), max_length=80)
    revision = models.CharField(_("revision"), max_length=40)
    content_digest = models.CharField(max_length=80)
    state = models.CharField(_("state"), max_length=12, choices=GenerationState.choices())
    approval = models.ForeignKey(
        Approval, models.PROTECT, null=True, related_name="generations", verbose_name=_("approval")
    )
    collection = models.CharField(_("collection"), max_length=200)
    embedder = models.CharField(_("embedder"), max_length=200)
    dimension = models.PositiveIntegerField(_("dimension"), default=0)
    language = models.CharField(_("language"), max_length=8)
    fusion = models.CharField(_("fusion"), max_length=8, default="rrf")
    prefetch = models.PositiveIntegerField(_("prefetch"), default=20)
    avg_len = models.PositiveIntegerField(default=0)
    threshold = models.FloatField(null=True)
    neighbours = models.JSONField(default=list)
    """Of a rehearsal: what its new and changed units lie close to (`publishing.neighbours`)."""
    replay = models.JSONField(default=dict)
    """Of a rehearsal: recent questions whose answer it would change (`publishing.replay`)."""
    replay_until = models.DateTimeField(null=True)
    """When those questions are to be forgotten, as the search log forgets them."""
    unit_count = models.PositiveIntegerField(_("units"), default=0)
    point_count = models.PositiveIntegerField(_("fragments"), default=0)
    points_digest = models.CharField(max_length=80, blank=True)
    embedded_count = models.PositiveIntegerField(_("texts embedded"), default=0)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    """Which build filled the store: an edge store keeps a folder an attempt."""
    tries = models.PositiveIntegerField(_("tries"), default=0)
    """How often a worker took it up in its present state."""
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_expires_at = models.DateTimeField(null=True)
    error_code = models.CharField(_("error"), max_length=60, blank=True)
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    built_at = models.DateTimeField(_("built"), null=True)
    evaluated_at = models.DateTimeField(_("evaluated"), null=True)
    activated_at = models.DateTimeField(_("activated"), null=True)
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        """One pointer says what is live."""

        verbose_name = _("generation")
        verbose_name_plural = _("generations")
        ordering = ("-created_at",)
        constraints = [
            models.UniqueConstraint(
                fields=("workspace",),
                condition=Q(state=GenerationState.ACTIVE.value),
                name="one_active_generation_a_workspace",
            ),
        ]
        indexes = [models.Index(fields=("workspace", "state"), name="generation_by_state")]

    def __str__(self) -> str:
        """Show the first digits of the id."""
        return str(self.id)[:8]


class Evaluation(models.Model):
    """One exam of one generation; the report is the JSON of spec 50, Evaluation."""

    workspace = models.CharField(_("workspace"), max_length=80)
    generation = models.ForeignKey(
        Generation, models.CASCADE, related_name="evaluations", verbose_name=_("generation")
    )
    at = models.DateTimeField(_("evaluated"), auto_now_add=True)
    passed = models.BooleanField(_("passed"))
    hit_at_5 = models.FloatField(_("hit@5"))
    hit_at_10 = models.FloatField(_("hit@10"))
    question_count = models.PositiveIntegerField(_("questions"))
    report = models.JSONField()
    answers = models.JSONField(default=dict)
    """By question: its words and the units of its fused answer, best first; not in the report."""

    class Meta:
        """Newest first."""

        verbose_name = _("evaluation")
        verbose_name_plural = _("evaluations")
        ordering = ("-at",)

    def __str__(self) -> str:
        """Show when it was."""
        return f"{timezone.localtime(self.at):%Y-%m-%d %H:%M}"


class Vouch(models.Model):
    """Append-only: an operator's word for a commit from outside whose author is no user."""

    workspace = models.CharField(_("workspace"), max_length=80)
    commit = models.CharField(_("commit"), max_length=40)
    vouched_by = models.CharField(_("vouched by"), max_length=150)
    vouched_at = models.DateTimeField(_("vouched"))
    reason = models.TextField(_("reason"))

    class Meta:
        """The database decides between two at once: the first one's word stands."""

        verbose_name = _("vouched commit")
        verbose_name_plural = _("vouched commits")
        ordering = ("-vouched_at",)
        constraints = [
            models.UniqueConstraint(fields=("workspace", "commit"), name="one_vouch_a_commit"),
        ]

    def __str__(self) -> str:
        """Show the commit, shortened."""
        return self.commit[:12]


class PublicationEvent(models.Model):
    """Append-only: who moved what, when, from where to where, and why."""

    workspace = models.CharField(_("workspace"), max_length=80)
    generation = models.ForeignKey(Generation, models.CASCADE, null=True, related_name="events")
    approval = models.ForeignKey(Approval, models.CASCADE, null=True, related_name="events")
    at = models.DateTimeField(_("when"))
    actor = models.CharField(_("who"), max_length=150)
    from_state = models.CharField(_("from"), max_length=12, blank=True)
    to_state = models.CharField(_("to"), max_length=12)
    reason = models.TextField(_("why"), blank=True)

    class Meta:
        """Newest first."""

        verbose_name = _("publication event")
        verbose_name_plural = _("publication events")
        ordering = ("-at", "-id")

    def __str__(self) -> str:
        """Show the step."""
        return f"{self.from_state} → {self.to_state}"


class EmbeddingRecord(models.Model):
    """A vector kept by embedder and text, so that nothing is embedded twice."""

    embedder = models.CharField(max_length=200)
    content_hash = models.CharField(max_length=80)
    vector = models.BinaryField()
    """Little-endian float32, `dimension` of them."""
    used_at = models.DateTimeField(db_index=True)
    """When a build last wanted it; older than every kept generation means nobody does."""

    class Meta:
        """One vector a text."""

        constraints = [
            models.UniqueConstraint(fields=("embedder", "content_hash"), name="one_vector_a_text"),
        ]

    def __str__(self) -> str:
        """Show the text's digest."""
        return self.content_hash


class GroundingRecord(models.Model):
    """Which columns the enums and mappings of one generation name, ready to be looked up."""

    generation = models.OneToOneField(Generation, models.CASCADE, related_name="grounding")
    places = models.JSONField()
    """`publishing.domain.places.Places` as JSON."""

    def __str__(self) -> str:
        """Show the generation."""
        return str(self.generation_id)[:8]
