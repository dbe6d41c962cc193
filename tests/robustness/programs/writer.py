"""A curator who saves one unit again and again."""

from __future__ import annotations

import re

from evidence import curation, wiring
from evidence.ports import Actor
from tests.publishing.making import SLUG
from tests.robustness.programs.outcomes import counted


def obey(path: str, saves: int) -> dict[str, int]:
    """Save another definition as often as asked, and count how each save ended."""
    repository = wiring.repository(SLUG)
    author = Actor(username=f"curatrice-{path[-8:-3]}", name="Curatrice", email="c@example.org")

    def save(number: int) -> None:
        entry = repository.entry(repository.head("main"), f"evidence/{path}")
        assert entry is not None
        text = repository.blobs([entry.blob])[entry.blob].decode()
        changed = re.sub(r"definition: .*", f"definition: Versione {number}.", text)
        assert changed != text
        curation.save_file(workspace=SLUG, path=path, text=changed, blob=entry.blob, author=author)

    return counted(save, times=saves)
