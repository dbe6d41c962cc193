"""Make a workspace with users and revisions in an empty home and database."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection

from publishing import conf
from publishing.models import Approval
from tests.publishing.making import TERMS, a_registered, an_approver, workspace_files

TERM = "codice triage"


def obey(approvers: list[str], revisions: int, bug: bool = False) -> list[tuple[str, str]]:
    """Register the workspace, and give commit and content digest of each revision.

    With the `bug`, the database lets two approvals be open.
    """
    call_command("migrate", verbosity=0)
    if bug:
        with connection.schema_editor() as editor:
            editor.remove_constraint(Approval, Approval._meta.constraints[0])
    get_user_model().objects.create_user("ada", email="ada@example.org")
    for name in approvers:
        an_approver(name)
    home = conf.current().home
    home.joinpath("repositories").mkdir(parents=True, exist_ok=True)
    workspace = a_registered(home, single_approver=True)
    made = []
    for number in range(revisions):
        terms = {**TERMS, TERM: f"Colore assegnato, versione {number}."}
        workspace.commit(dict(workspace_files(terms)))
        head = workspace.head()
        made.append((head.commit, head.content_digest))
    return made
