"""Bring the demo to where a visitor should find it; every step is safe to repeat."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from django.core.management import call_command
from django.utils import timezone
from django.utils.translation import gettext as _

from evidence import curation, overview, proposals, registration, runs
from evidence import wiring as evidence_wiring
from evidence.faults import OperatorFault
from evidence.messages import Message, gettext_noop
from evidence.runs import PreparationUnderWay
from portal.demo import people
from publishing import overview as publishing_overview
from publishing import publication, wiring
from publishing.domain.lifecycle import GenerationState
from publishing.overview import GenerationSummary
from search_api import keys
from search_api.models import KeyRole

CONTENT: Final = Path(__file__).resolve().parent
SLUG: Final = "clinica-demo"
NOTE: Final = "source/in-arrivo/terapia-intensiva.md"
QUESTION: Final = "Come distinguo i pazienti pediatrici?"

Tell = Callable[[str], None]


class DemoNotPublished(OperatorFault):
    """The demo's own revision did not pass; something is wrong with this installation."""

    code = "demo_not_published"


@dataclass(frozen=True, slots=True)
class Demo:
    """What a visitor needs to know: who can sign in, and a key to ask with."""

    passwords: Mapping[str, str]
    key: str


def load(home: Path, *, tell: Tell) -> Demo:
    """Migrate, make the people, load and publish the workspace, leave one note waiting.

    One at a time in a home: whoever comes second waits and finds everything there.
    """
    with _alone(home):
        tell(_("Preparing the database"))
        call_command("migrate", interactive=False, verbosity=0)
        secrets = people.ensure(home)
        tell(_("Loading the notes"))
        _register()
        if publishing_overview.active(SLUG) is None:
            tell(_("Preparing and publishing: vectors, then the exam"))
            _prepare()
            _publish(tell)
        _leave_a_note()
        return Demo(passwords=secrets.passwords, key=_reader_key(secrets))


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Hold the home; the lock goes with the process, however it ends."""
    folder = home / "run"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _register() -> None:
    if SLUG in {workspace.slug for workspace in overview.workspaces()}:
        return
    root = CONTENT / SLUG
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
    registration.start(files=files, author=people.AUTHOR)


def _prepare() -> None:
    try:
        run = runs.start_preparation(
            workspace=SLUG, requested_by=people.AUTHOR.username, restructurer="rules"
        )
    except PreparationUnderWay:
        return  # An earlier run was interrupted; the units that ship with the demo are prepared.
    run = runs.run_preparation(run.pk)
    if run.proposal_commit:
        proposals.accept(run=run, author=people.AUTHOR)


def _publish(tell: Tell) -> None:
    if publishing_overview.open_approval(SLUG):
        tell(_("An earlier run was interrupted; going on with it takes two minutes at most"))
    interrupted = publication.resume(SLUG, parts=wiring.parts())
    if interrupted is not None and _ending(interrupted).state is GenerationState.ACTIVE:
        return
    found = _ending(_approve())
    if found.state is not GenerationState.ACTIVE:
        raise DemoNotPublished(
            Message(
                gettext_noop("The demo ended as %(state)s: %(reason)s"),
                state=found.state.value,
                reason=found.error_message,
            )
        )


def _approve() -> UUID:
    head = overview.revision(SLUG, overview.workspace(SLUG).head)
    return publication.publish(
        workspace=SLUG,
        revision=head.commit,
        content_digest=head.content_digest,
        actor=people.APPROVER,
        note="Demo",
        parts=wiring.parts(),
    )


def _ending(generation: UUID) -> GenerationSummary:
    return publishing_overview.generation_summary(SLUG, generation)


def _leave_a_note() -> None:
    """Add the badly structured note that waits for preparation, unless it is there already."""
    head = overview.workspace(SLUG).head
    if evidence_wiring.repository(SLUG).entry(head, f"evidence/{NOTE}") is None:
        text = (CONTENT / "note-in-arrivo.md").read_text(encoding="utf-8")
        curation.add_source(workspace=SLUG, name=NOTE, text=text, author=people.AUTHOR)


def _reader_key(secrets: people.Secrets) -> str:
    """Give the key kept from an earlier run if it still works, else a new one."""
    now = timezone.now()
    try:
        keys.check(secrets.key, now=now)
    except keys.KeyRefused:
        made = keys.create(workspaces=[SLUG], role=KeyRole.READER, now=now, label="demo")
        secrets.keep_key(made.token)
    return secrets.key
