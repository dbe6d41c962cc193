"""An approver who publishes whatever stands at the head."""

from __future__ import annotations

from django.contrib.auth import get_user_model

from evidence import overview
from evidence.models import Workspace
from evidence.ports import Actor
from publishing import publication, wiring
from publishing.models import Generation
from tests.publishing.making import SLUG
from tests.robustness.programs.outcomes import counted


def obey(username: str) -> dict[str, int]:
    """Publish the head, and give how it ended: the state, or what was raised."""
    states: list[str] = []

    def publish(_: int) -> None:
        user = get_user_model().objects.get(username=username)
        # What pages show: a save is a commit first and mirrored a moment later.
        mirrored = Workspace.objects.get(slug=SLUG).mirrored_commit
        head = overview.revision(SLUG, mirrored)
        generation = publication.publish(
            workspace=SLUG,
            revision=head.commit,
            content_digest=head.content_digest,
            actor=Actor(username=username, name="", email=user.email),
            note="Ogni volta",
            parts=wiring.parts(),
        )
        states.append(Generation.objects.get(pk=generation).state)

    ends = counted(publish, times=1)
    return {states[0]: 1} if states else ends
