"""What preparations leave behind: the run, how each source was read, what became of each unit.

Rows of ours, not a mirror; only the steps write them, and they go with their run.
"""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evidence.domain.paths import PROPOSAL_PREFIX
from evidence.domain.proposed import UnitChange, UnitOutcome
from evidence.domain.readings import ReadingOutcome
from evidence.domain.runs import RunState


class PreparationRun(models.Model):
    """One run of preparation and the proposal it made (ours, not a mirror)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey("evidence.Workspace", models.CASCADE, related_name="preparations")
    state = models.CharField(
        _("state"),
        max_length=12,
        choices=[(state.value, _(state.label)) for state in RunState],
        default=RunState.WAITING,
    )
    restructurer = models.CharField(_("restructurer"), max_length=40)
    only = models.JSONField(default=list)
    personal_data_confirmed = models.BooleanField(default=False)
    """A person said that notes which seem to hold personal data may go to a model elsewhere."""
    requested_by = models.CharField(_("requested by"), max_length=150)
    requested_at = models.DateTimeField(_("requested"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True)
    base_commit = models.CharField(max_length=40, blank=True)
    proposal_commit = models.CharField(max_length=40, blank=True)
    accepted_commit = models.CharField(max_length=40, blank=True)
    left_out = models.JSONField(default=list)
    """Paths of the sources that were not accepted with the others; they wait to be prepared."""
    dropped = models.JSONField(default=dict)
    """`{source, reason}` by the id of each new unit that a curator took out of the proposal."""
    editors = models.JSONField(default=list)
    """`{username, name, email}` of those who edited proposed units before they were accepted."""
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True)
    discard_reason = models.TextField(_("reason"), blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    turn = models.PositiveIntegerField(default=0)
    """Counts who computed it or decided on it, one after the other; see `run_transitions.py`."""
    leased_until = models.DateTimeField(null=True)
    """While somebody holds the run others leave or wait; after it, the next one takes over."""
    sources_total = models.PositiveIntegerField(default=0)
    sources_done = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=dict)
    error = models.JSONField(default=dict)
    """`{code, message, path, hint}` of the fault that ended a failed run."""

    class Meta:
        """Newest first; at most one a workspace is under way or waits for a decision."""

        verbose_name = _("proposal")
        verbose_name_plural = _("proposals")
        ordering = ("-requested_at",)
        constraints = [
            models.UniqueConstraint(
                fields=("workspace",),
                condition=models.Q(state__in=("waiting", "running", "proposed")),
                name="one_open_preparation",
            ),
        ]

    def __str__(self) -> str:
        """Show when it was asked for."""
        return f"{timezone.localtime(self.requested_at):%Y-%m-%d %H:%M}"

    @property
    def branch(self) -> str:
        """Give the name of the proposal branch (spec 20, Two ways to apply)."""
        return f"{PROPOSAL_PREFIX}{self.id}"


class SourceReading(models.Model):
    """How one attempt of a run read one source: by whom, how long, with what outcome."""

    run = models.ForeignKey(PreparationRun, models.CASCADE, related_name="readings")
    attempt = models.PositiveSmallIntegerField()
    source_file = models.CharField(_("note"), max_length=1000)
    restructurer = models.CharField(_("restructurer"), max_length=40)
    model = models.CharField(_("model"), max_length=200, blank=True)
    skill_digest = models.CharField(_("skill version"), max_length=80, blank=True)
    outcome = models.CharField(
        _("outcome"),
        max_length=8,
        choices=[(each.value, _(each.label)) for each in ReadingOutcome],
    )
    code = models.CharField(_("code"), max_length=60, blank=True)
    """The code of the fault, where it failed or was refused."""
    duration_ms = models.PositiveIntegerField(_("duration"), null=True)
    """How long the call lasted; none where nobody was asked."""
    units = models.PositiveIntegerField(_("units"), default=0)
    at = models.DateTimeField(_("read"), auto_now_add=True)

    class Meta:
        """At most as many rows an attempt as a workspace has sources."""

        verbose_name = _("note read")
        verbose_name_plural = _("notes read")
        ordering = ("-at", "source_file")
        constraints = [
            models.UniqueConstraint(
                fields=("run", "attempt", "source_file"), name="one_reading_a_source_and_attempt"
            ),
        ]
        indexes = [
            models.Index(
                fields=("restructurer", "model", "skill_digest", "outcome"), name="reading_by_model"
            ),
            models.Index(fields=("-at",), name="reading_by_time"),
        ]

    def __str__(self) -> str:
        """Show the source."""
        return self.source_file


class ProposedUnit(models.Model):
    """One unit of a proposal as it was computed, and what the curator made of it."""

    run = models.ForeignKey(PreparationRun, models.CASCADE, related_name="units")
    reading = models.ForeignKey(SourceReading, models.CASCADE, related_name="made", null=True)
    """Of which reading it comes; none where its source was only renamed."""
    evidence_id = models.CharField(_("unit"), max_length=100)
    source_file = models.CharField(_("note"), max_length=1000, blank=True)
    change = models.CharField(
        _("change"), max_length=10, choices=[(each.value, _(each.label)) for each in UnitChange]
    )
    content_sha256 = models.CharField(max_length=80)
    """Of what it said when it was proposed, doubts and its source left aside."""
    outcome = models.CharField(
        _("decision"),
        max_length=8,
        choices=[(each.value, _(each.label)) for each in UnitOutcome],
        default=UnitOutcome.OPEN,
    )

    class Meta:
        """One row a unit of a proposal."""

        verbose_name = _("proposed unit")
        verbose_name_plural = _("proposed units")
        ordering = ("-run__requested_at", "evidence_id")
        constraints = [
            models.UniqueConstraint(fields=("run", "evidence_id"), name="one_row_a_proposed_unit"),
        ]
        indexes = [models.Index(fields=("change", "outcome"), name="proposed_by_outcome")]

    def __str__(self) -> str:
        """Show the id."""
        return self.evidence_id
