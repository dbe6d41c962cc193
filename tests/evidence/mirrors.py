"""What it means that the mirror says what Git says: compared with a validation and a rebuild."""

from __future__ import annotations

from django.db.models import Model

from evidence import mirror, plugged
from evidence.domain.validation import validate
from evidence.models import (
    FindingRecord,
    ListedUnitRecord,
    ReviewItemRecord,
    RevisionRecord,
    SourceRecord,
    UnitKeyRecord,
    UnitRecord,
    Workspace,
)
from evidence.reading import read_revision


def table(model: type[Model], *left_out: str) -> list[dict[str, object]]:
    rows = model._default_manager.order_by().values()
    hidden = {"id", "workspace_id", "unit_id", *left_out}
    kept = [{name: row[name] for name in row if name not in hidden} for row in rows]
    return sorted(kept, key=repr)


def everything(workspace: Workspace) -> dict[str, object]:
    """All mirror rows without their database keys; of the revisions only the head's verdict."""
    workspace.refresh_from_db()
    head = RevisionRecord.objects.get(workspace=workspace, commit=workspace.mirrored_commit)
    items = [
        (item.unit.path, item.ordinal, item.code, item.message, item.field)
        for item in ReviewItemRecord.objects.select_related("unit")
    ]
    verdict = ("content_digest", "is_validated", "is_publishable", "summary")
    return {
        "workspace": [
            getattr(workspace, name)
            for name in ("title", "language", "settings_yaml", "has_manifest", "file_hashes")
        ],
        "dismissals": workspace.dismissals_yaml,
        "keys": sorted(UnitKeyRecord.objects.values_list("unit__path", "key")),
        "units": table(UnitRecord),
        "sources": table(SourceRecord),
        "listed": table(ListedUnitRecord),
        "findings": table(FindingRecord),
        "items": sorted(items),
        "revisions": table(RevisionRecord, *verdict),
        "head": [getattr(head, name) for name in verdict],
    }


def assert_mirrors(workspace: Workspace) -> None:
    """The rows are those of a rebuild, and the findings those of `validate`."""
    workspace.refresh_from_db()
    tree = read_revision(plugged.repository(workspace.slug), workspace.mirrored_commit)
    report = validate(tree)
    found = sorted(
        (
            row.severity,
            row.code,
            row.path,
            row.template % row.values if row.values else row.template,
        )
        for row in FindingRecord.objects.filter(workspace=workspace)
    )
    assert found == sorted(
        (str(f.severity), f.code, f.path, str(f.message)) for f in report.findings
    )
    head = RevisionRecord.objects.get(workspace=workspace, commit=workspace.mirrored_commit)
    assert head.content_digest == tree.content_digest()
    assert head.is_publishable == report.publishable
    assert head.summary == mirror.summary_of(report)
    before = everything(workspace)
    mirror.sync_workspace(workspace.slug, rebuild=True)
    assert everything(workspace) == before
