"""Work in the background: ids in, one call each, safe to run twice (spec 70)."""

from __future__ import annotations

import structlog
from celery import shared_task

from evidence import mirror, plugged, runs
from evidence.faults import Fault
from evidence.models import Workspace

log = structlog.get_logger(__name__)


@shared_task(name="evidence.tasks.prepare_workspace")
def prepare_workspace(run_id: str) -> None:
    """Compute one preparation; a second delivery leaves."""
    runs.run_preparation(run_id)


@shared_task(name="evidence.tasks.wake_preparations")
def wake_preparations() -> None:
    """Send runs again whose message or worker was lost."""
    for run_id in runs.abandoned():
        prepare_workspace.delay(run_id)


@shared_task(name="evidence.tasks.sync_workspaces")
def sync_workspaces() -> None:
    """Mirror what arrived in the repositories by another way than the portal."""
    for slug in Workspace.objects.values_list("slug", flat=True):
        try:
            mirror.sync_workspace(slug)
        except Fault as fault:
            log.warning("workspace_not_mirrored", workspace=slug, code=fault.code)


@shared_task(name="evidence.tasks.pack_repositories")
def pack_repositories() -> None:
    """Keep the repositories small, off the way of any save."""
    for slug in Workspace.objects.values_list("slug", flat=True):
        try:
            if plugged.repository(slug).pack():
                log.info("repository_packed", workspace=slug)
        except Fault as fault:
            log.warning("repository_not_packed", workspace=slug, code=fault.code)
