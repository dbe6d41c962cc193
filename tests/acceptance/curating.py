"""People at work on the live portal: a curator with a plain Git clone, an approver in the admin."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx

from portal.demo.people import APPROVER, CURATOR
from tests.evidence.trees import git
from tests.live import LivePortal

SLUG: Final = "clinica-demo"
WAITING: Final = "evidence/source/in-arrivo/terapia-intensiva.md"
PAEDIATRIC: Final = "evidence/curated/formula/fascia-pediatrica.md"
HIDDEN: Final = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


class Curator:
    """Chiara, who edits in a clone of the workspace's repository and pushes."""

    def __init__(self, portal: LivePortal, folder: Path) -> None:
        """Clone, and take the note that waits for preparation away, so that nothing blocks."""
        self._portal = portal
        self._clone = folder / "clone"
        bare = portal.home / "repositories" / f"{SLUG}.git"
        git(folder, "clone", "--quiet", str(bare), str(self._clone))
        git(self._clone, "rm", "--quiet", WAITING)
        self._push("Leave the note for later")

    def edit(self, path: str, change: Callable[[str], str], *, message: str) -> str:
        """Change one file, push it, sync the workspace, and give the commit."""
        file = self._clone / path
        before = file.read_text()
        file.write_text(change(before))
        assert file.read_text() != before, "the edit changes nothing"
        git(self._clone, "add", path)
        return self._push(message)

    def _push(self, message: str) -> str:
        author = f"{CURATOR.name} <{CURATOR.email}>"
        git(self._clone, "commit", "--quiet", "--author", author, "--message", message)
        git(self._clone, "push", "--quiet", "origin", "HEAD")
        self._portal.tht_json("workspace", "sync", SLUG)
        return git(self._clone, "rev-parse", "HEAD")


class Approver:
    """Aldo, who signs in to the admin with his password and approves what the page shows."""

    def __init__(self, portal: LivePortal) -> None:
        """Sign in."""
        self._client = httpx.Client(base_url=portal.address, follow_redirects=True, timeout=60)
        answer = self._post(
            "/admin/login/",
            username=APPROVER.username,
            password=portal.passwords[APPROVER.username],
            next="/admin/",
        )
        assert answer.url.path == "/admin/", answer.text

    def __enter__(self) -> Approver:
        """Sign in for a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the browser."""
        self._client.close()

    def approve(self, note: str) -> httpx.Response:
        """Approve the head as the page shows it, and give the page that follows."""
        return self._post(f"/admin/publishing/approval/release/{SLUG}/", note=note)

    def _post(self, path: str, **fields: str) -> httpx.Response:
        page = self._client.get(path)
        page.raise_for_status()
        hidden = dict(HIDDEN.findall(page.text))
        return self._client.post(path, data=hidden | fields, headers={"Referer": str(page.url)})


def approve(portal: LivePortal, revision: str, *, code: int = 0) -> dict[str, object]:
    """Approve a revision on the command line as Aldo, wait for its end, and give what it says."""
    options = ("--revision", revision, "--as", APPROVER.username, "--note", "Prova")
    answer: dict[str, object] = portal.tht_json("publish", "approve", SLUG, *options, code=code)
    return answer
