"""The pages tell which units are stale, and lead to them."""

from __future__ import annotations

from pathlib import Path

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evidence import mirror
from evidence.models import UnitRecord, Workspace
from tests.evidence.admin.conftest import SignIn
from tests.evidence.test_stale import AFTER_18, at, edited, put_at
from tests.makers import a_corpus, a_workspace, yaml_of_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace(portal_home: Path, db: None) -> Workspace:
    """Three units, written on 2 January 2026."""
    made = a_workspace(a_corpus(3) | AFTER_18)
    mirror.sync_workspace(made.slug)
    return Workspace.named(made.slug)


def test_the_pages_say_it_and_lead_to_the_units(sign_in: SignIn, workspace: Workspace):
    put_at(at(2026, 9, 1), edited(1, "Nuovo"))
    units = reverse("admin:evidence_unitrecord_changelist")
    row = UnitRecord.objects.get(evidence_id="evidence:regola-0")
    with time_machine.travel(at(2027, 8, 1), tick=False):
        reader = sign_in("Readers")
        found = reader.get(reverse("admin:evidence_findingrecord_changelist")).content.decode()
        narrowed = reader.get(units, {"attention": "stale"})
        page = reader.get(reverse("admin:evidence_unitrecord_change", args=[row.pk]))
        home = reader.get("/admin/").content.decode()
    assert "2 units have not been changed for a long time" in found
    assert "a look is due after 18 months" in found
    assert "attention=stale" in found
    assert narrowed.context["cl"].result_count == 2
    assert "to look at again" in narrowed.content.decode()
    assert "Nobody has changed this unit for more than 18 months" in page.content.decode()
    assert "stale_unit" in page.content.decode()
    assert "units to look at again" in home


def test_many_stale_units_cost_no_more_questions_than_few(reader: Client, portal_home: Path):
    counts = []
    for slug, size in (("poche", 10), ("molte", 60)):
        file = yaml_of_workspace(slug, evidence="  review_after_months: 1\n")
        made = a_workspace(a_corpus(size, slug=slug) | {"workspace.yaml": file}, slug=slug)
        mirror.sync_workspace(made.slug)
    for slug in ("poche", "molte"):
        for name in ("evidence_findingrecord", "evidence_unitrecord"):
            place = reverse(f"admin:{name}_changelist")
            with CaptureQueriesContext(connection) as queries:
                reader.get(place, {"workspace": slug, "attention": "stale"})
            counts.append(len(queries))
    assert counts[:2] == counts[2:]
