"""The mirror of Git (only `mirror.py` writes it) and the rows that are ours.

Those of preparations have a module of their own, `run_models.py`.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop
from evidence.run_models import PreparationRun, ProposedUnit, SourceReading

__all__ = (
    "FindingRecord",
    "ListedUnitRecord",
    "PortalCommit",
    "PreparationRun",
    "ProposedUnit",
    "ReviewItemRecord",
    "RevisionRecord",
    "SourceReading",
    "SourceRecord",
    "SourceState",
    "UnitKeyRecord",
    "UnitRecord",
    "Workspace",
    "WorkspaceUnknown",
)


class WorkspaceUnknown(CuratorFault):
    """No workspace is registered under this slug."""

    code = "workspace_unknown"
    hint = gettext_noop("`tht workspace list` shows the registered ones.")


class Workspace(models.Model):
    """One registered knowledge base: where it lives the operator says, what it says is Git's."""

    slug = models.SlugField(_("slug"), max_length=80, unique=True)
    title = models.CharField(_("title"), max_length=200)
    language = models.CharField(_("language"), max_length=8)
    folder = models.CharField(_("folder"), max_length=1000, blank=True)
    branch = models.CharField(_("branch"), max_length=1000, default="main")
    remote_url = models.CharField(_("remote"), max_length=1000, blank=True)
    single_approver = models.BooleanField(_("single approver"), default=False)
    registered_at = models.DateTimeField(_("registered"), auto_now_add=True)
    mirrored_commit = models.CharField(_("mirrored commit"), max_length=40, blank=True)
    mirrored_at = models.DateTimeField(_("mirrored"), null=True)
    settings_yaml = models.TextField(_("workspace file"), blank=True)
    dismissals_yaml = models.TextField(blank=True)
    """The file of dismissed warnings as it was mirrored: what a change of it touches is asked."""
    review_after_months = models.PositiveIntegerField(null=True)
    """After how many months without a change a unit counts as stale; never when it is null."""
    has_manifest = models.BooleanField(default=False)
    """Whether there is one that can be read."""
    file_hashes = models.JSONField(default=dict)
    """SHA-256 by path for the few files that have no row of their own (workspace, manifest, …)."""

    class Meta:
        """Words for the admin."""

        verbose_name = _("workspace")
        verbose_name_plural = _("workspaces")
        ordering = ("slug",)
        permissions = [
            ("curate_workspace", _("Can prepare notes, edit units and accept proposals")),
            ("operate_workspace", _("Can synchronize and register workspaces")),
        ]

    def __str__(self) -> str:
        """Show the title."""
        return self.title

    @classmethod
    def named(cls, slug: str) -> Workspace:
        """Give the row of a slug. Raises `WorkspaceUnknown`."""
        # PostgreSQL does not even compare with a NUL (spec 90).
        row = None if "\0" in slug else cls.objects.filter(slug=slug).first()
        if row is None:
            message = gettext_noop("No workspace “%(slug)s” is registered.")
            raise WorkspaceUnknown(Message(message, slug=slug[:80]))
        return row


class SourceState(models.TextChoices):
    """How a source stands to the last preparation (spec 20, Preparation, step 1)."""

    NEW = "new", _("new")
    CHANGED = "changed", _("changed")
    PREPARED = "prepared", _("prepared")
    REMOVED = "removed", _("removed")
    IGNORED = "ignored", _("ignored")


class SourceRecord(models.Model):
    """One note under `evidence/source/`; a removed one stays while the manifest names it."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="sources")
    path = models.CharField(_("file"), max_length=1000)
    blob = models.CharField(max_length=40, blank=True)
    bytes_sha256 = models.CharField(max_length=64, blank=True)
    text_sha256 = models.CharField(max_length=80, blank=True)
    manifest_sha256 = models.CharField(max_length=80, blank=True)
    """The hash the manifest keeps for this source; empty when it does not name it."""
    is_accepted = models.BooleanField(default=False)
    """Whether there is such a file, and the workspace takes it as a source."""
    size = models.PositiveIntegerField(_("size"), default=0)
    state = models.CharField(_("state"), max_length=12, choices=SourceState.choices)
    unit_count = models.PositiveIntegerField(_("units"), default=0)

    class Meta:
        """One row a path."""

        verbose_name = _("source")
        verbose_name_plural = _("sources")
        ordering = ("path",)
        constraints = [
            models.UniqueConstraint(fields=("workspace", "path"), name="one_source_a_path"),
        ]

    def __str__(self) -> str:
        """Show the path."""
        return self.path


class ListedUnitRecord(models.Model):
    """One id that the manifest lists, whether a file has it or not; no source means an orphan."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="listed_units")
    evidence_id = models.CharField(max_length=100)
    source_file = models.CharField(max_length=1000, blank=True)

    class Meta:
        """A manifest that lists an id twice is invalid and has no rows."""

        verbose_name = _("listed unit")
        verbose_name_plural = _("listed units")
        constraints = [
            models.UniqueConstraint(fields=("workspace", "evidence_id"), name="one_listing_an_id"),
        ]
        indexes = [
            models.Index(fields=("workspace", "source_file"), name="listing_by_source"),
        ]

    def __str__(self) -> str:
        """Show the id."""
        return self.evidence_id


class UnitRecord(models.Model):
    """One file under `evidence/curated/`, valid or not."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="units")
    path = models.CharField(_("file"), max_length=1000)
    blob = models.CharField(max_length=40)
    bytes_sha256 = models.CharField(max_length=64)
    is_valid = models.BooleanField(_("valid"))
    is_orphan = models.BooleanField(_("orphan"), default=False)
    evidence_id = models.CharField(_("id"), max_length=1100, blank=True)
    """The unit's own, or the one that the name of a broken file claims."""
    kind = models.CharField(_("kind"), max_length=16, blank=True)
    title = models.CharField(_("title"), max_length=200)
    language = models.CharField(_("language"), max_length=8, blank=True)
    purposes = models.JSONField(_("purposes"), default=list)
    source_file = models.CharField(_("source"), max_length=1000, blank=True)
    source_sha256 = models.CharField(max_length=80, blank=True)
    search_text = models.TextField(blank=True)
    text_sha256 = models.CharField(max_length=80, blank=True)
    words = models.CharField(max_length=40, blank=True)
    sketch = models.JSONField(default=list)
    """With `words`, what near-duplicates are found by; see `evidence.domain.likeness`."""
    open_items = models.PositiveIntegerField(_("open review items"), default=0)
    changed_at = models.DateTimeField(_("last change"), null=True)
    """When the file was last touched in Git, as the author's date says."""

    class Meta:
        """One row a path; ids may collide, which is a finding and not a crash."""

        verbose_name = _("unit")
        verbose_name_plural = _("units")
        ordering = ("path",)
        constraints = [
            models.UniqueConstraint(fields=("workspace", "path"), name="one_unit_a_path"),
        ]
        indexes = [
            models.Index(fields=("workspace", "evidence_id"), name="unit_by_id"),
            models.Index(fields=("workspace", "source_file"), name="unit_by_source"),
            # Holds all that a content digest asks of ten thousand rows.
            models.Index(fields=("workspace", "path", "bytes_sha256"), name="unit_hashes"),
        ]

    def __str__(self) -> str:
        """Show the title."""
        return self.title


class UnitKeyRecord(models.Model):
    """One key under which a unit is found when another one is compared with it."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="unit_keys")
    unit = models.ForeignKey(UnitRecord, models.CASCADE, related_name="keys")
    key = models.CharField(max_length=80)

    class Meta:
        """Found by key."""

        constraints = [
            models.UniqueConstraint(fields=("unit", "key"), name="one_row_a_unit_and_key"),
        ]
        indexes = [
            models.Index(fields=("workspace", "key"), name="unit_by_key"),
        ]

    def __str__(self) -> str:
        """Show the key."""
        return self.key


class ReviewItemRecord(models.Model):
    """An open doubt on a unit."""

    unit = models.ForeignKey(UnitRecord, models.CASCADE, related_name="review_items")
    ordinal = models.PositiveIntegerField()
    code = models.CharField(_("code"), max_length=80)
    message = models.TextField(_("message"))
    field = models.CharField(_("field"), max_length=200, blank=True)

    class Meta:
        """In the order of the file."""

        verbose_name = _("review item")
        verbose_name_plural = _("review items")
        ordering = ("unit", "ordinal")
        constraints = [
            models.UniqueConstraint(fields=("unit", "ordinal"), name="one_item_a_place"),
        ]

    def __str__(self) -> str:
        """Show the doubt in words."""
        return self.message


class FindingRecord(models.Model):
    """A validation finding of the mirrored head; `scope` and `key` name its recomputation."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="findings")
    scope = models.CharField(max_length=16)
    key = models.CharField(max_length=1100)
    path = models.CharField(_("file"), max_length=1000)
    code = models.CharField(_("code"), max_length=60)
    severity = models.CharField(_("severity"), max_length=8)
    template = models.TextField()
    values = models.JSONField(default=dict)

    class Meta:
        """Read by path and counted by severity."""

        verbose_name = _("finding")
        verbose_name_plural = _("findings")
        ordering = ("path", "code")
        indexes = [
            models.Index(fields=("workspace", "severity"), name="finding_by_severity"),
            models.Index(fields=("workspace", "path"), name="finding_by_path"),
            models.Index(fields=("workspace", "scope", "key"), name="finding_by_key"),
        ]

    def __str__(self) -> str:
        """Show code and path."""
        return f"{self.code} {self.path}"


class RevisionRecord(models.Model):
    """One first-parent commit; only heads are validated, others on demand before approval."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="revisions")
    commit = models.CharField(_("revision"), max_length=40)
    position = models.PositiveIntegerField()
    content_digest = models.CharField(max_length=80, blank=True)
    author_name = models.CharField(_("author"), max_length=200)
    author_email = models.CharField(max_length=320)
    authored_at = models.DateTimeField(_("written"))
    message = models.CharField(_("message"), max_length=500)
    is_validated = models.BooleanField(default=False)
    is_publishable = models.BooleanField(_("publishable"), default=False)
    summary = models.JSONField(default=dict)
    """Counts `{errors, warnings, open_review_items, orphans}` once validated."""

    class Meta:
        """Newest last; `position` is 1 for the first commit."""

        verbose_name = _("revision")
        verbose_name_plural = _("revisions")
        ordering = ("-position",)
        constraints = [
            models.UniqueConstraint(fields=("workspace", "commit"), name="one_row_a_commit"),
        ]

    def __str__(self) -> str:
        """Show the message."""
        return self.message


class PortalCommit(models.Model):
    """The portal's own record of who made a commit through it; survives a rebuild of the mirror."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="portal_commits")
    commit = models.CharField(max_length=40)
    username = models.CharField(max_length=150)
    others = models.JSONField(default=list)
    """User names of those whose words it holds too: they edited the proposal that it accepts."""
    action = models.CharField(max_length=40)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """One author a commit."""

        constraints = [
            models.UniqueConstraint(fields=("workspace", "commit"), name="one_author_a_commit"),
        ]

    def __str__(self) -> str:
        """Show who did what."""
        return f"{self.username}: {self.action}"
