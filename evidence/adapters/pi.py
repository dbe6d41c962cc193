"""A language model reads the notes, through one short-lived Pi process per source (spec 20, Pi)."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evidence.adapters import debug_files, guarded_process
from evidence.adapters.guarded_process import Ended
from evidence.adapters.pi_faults import (
    PiFailed,
    PiNotFound,
    PiOutputInvalid,
    PiOutputTooLarge,
    PiTimeout,
    PiTooOld,
)
from evidence.adapters.skill import SKILL, skill_digest
from evidence.adapters.strict_json import JsonRefused
from evidence.adapters.wire import read_answer, write_request
from evidence.environment import PiSettings
from evidence.messages import Message, gettext_noop
from evidence.ports import RestructureCandidate, RestructureRequest, RestructuringFailed

OLDEST: Final = (0, 73, 1)
VERSION_TIMEOUT_S: Final = 30.0
ALONE: Final = (
    "--print",
    "--mode",
    "text",
    "--no-session",
    "--no-tools",
    "--no-extensions",
    "--no-skills",
    "--no-prompt-templates",
    "--no-themes",
    "--no-context-files",
)
"""No tools, no memory, nothing from the disk. The skill is the system prompt: with `--no-tools` Pi
never shows a model what `--skill` names (tried with 0.73.1 and 1.6.0)."""
AGENT_SETTINGS: Final = {"retry": {"enabled": False}, "compaction": {"enabled": False}}
"""For a private agent folder: one call is one call."""
_VERSION = re.compile(rb"(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class _Place:
    """The private folders of one process."""

    work: Path
    home: Path
    agent: Path


class PiRestructurer:
    """Asks a model once per source; a thread may ask while others do."""

    name = "pi"
    local = False

    def __init__(self, settings: PiSettings, *, debug: Path) -> None:
        """Take how Pi is started and the folder for what it really said; nothing runs yet."""
        self._settings = settings
        self._debug = debug
        self._lock = threading.Lock()
        self._supported = False
        self.model = "/".join(part for part in (settings.provider, settings.model) if part)
        self.skill_digest = skill_digest()

    def restructure(self, request: RestructureRequest) -> tuple[RestructureCandidate, ...]:
        """Give what the model answered for one source, read strictly; no second try.

        Raises `PiNotFound`, `PiTooOld`, `PiTimeout`, `PiFailed`, `PiOutputTooLarge` or
        `PiOutputInvalid`; none repeats the output, which is in a file for the operator.
        """
        self._refuse_too_old()
        ended = self._run(self._arguments(), write_request(request), self._settings.timeout_s)
        kept = debug_files.keep(self._debug, "pi", _transcript(request, ended))
        try:
            _refuse_failure(ended)
            return read_answer(ended.out.strip())
        except JsonRefused as refused:
            template = gettext_noop("The model's answer is not as agreed: %(reason)s.")
            message = Message(template, reason=refused.message)
            raise PiOutputInvalid(message, hint=_hint(kept)) from None
        except RestructuringFailed as fault:
            fault.hint = _hint(kept)
            raise

    def _arguments(self) -> list[str]:
        """Give every argument; none comes from a note, and none begins with `@`, a file to Pi."""
        chosen = {
            "--system-prompt": str(SKILL),
            "--provider": self._settings.provider,
            "--model": self._settings.model,
        }
        return [*ALONE, *(part for pair in chosen.items() if pair[1] for part in pair)]

    def _refuse_too_old(self) -> None:
        """Ask Pi for its version, once. A wrapper that names none is taken at its word."""
        with self._lock:
            if self._supported:
                return
            limit = min(VERSION_TIMEOUT_S, self._settings.timeout_s)
            ended = self._run(["--version"], b"", limit)
            _refuse_failure(ended)
            found = _VERSION.search(ended.out) or _VERSION.search(ended.error)
            if found and tuple(map(int, found.groups())) < OLDEST:
                template = gettext_noop("Pi %(found)s is too old: %(oldest)s or newer is needed.")
                oldest = ".".join(map(str, OLDEST))
                raise PiTooOld(Message(template, found=found[0].decode(), oldest=oldest))
            self._supported = True

    def _run(self, arguments: Sequence[str], stdin: bytes, timeout_s: float) -> Ended:
        program = shutil.which(self._settings.executable)
        if program is None:
            template = gettext_noop("There is no program “%(name)s”.")
            raise PiNotFound(Message(template, name=self._settings.executable))
        with _private_place() as place:
            ended = guarded_process.run(
                [str(Path(program).absolute()), *arguments],
                stdin=stdin,
                environment=self._environment(place),
                folder=place.work,
                timeout_s=timeout_s,
            )
        if ended.errno is not None:
            template = gettext_noop("Pi cannot be started: %(reason)s")
            raise PiNotFound(Message(template, reason=os.strerror(ended.errno)))
        return ended

    def _environment(self, place: _Place) -> Mapping[str, str]:
        """Give the whole environment: what the operator lists, and what no list may change."""
        listed = {name: os.environ[name] for name in self._settings.env if name in os.environ}
        return listed | {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": str(place.home),
            "PI_OFFLINE": "1",
            "PI_CODING_AGENT_DIR": str(self._settings.agent_dir or place.agent),
        }


@contextmanager
def _private_place() -> Iterator[_Place]:
    """Give new folders that are gone afterwards, whatever a process left in them."""
    with tempfile.TemporaryDirectory(prefix="portal-pi-", ignore_cleanup_errors=True) as folder:
        place = _Place(*(Path(folder) / name for name in ("work", "home", "agent")))
        for each in (place.work, place.home, place.agent):
            each.mkdir()
        (place.agent / "settings.json").write_text(json.dumps(AGENT_SETTINGS))
        yield place


def _refuse_failure(ended: Ended) -> None:
    if ended.too_slow:
        raise PiTimeout(gettext_noop("Pi took too long and was stopped."))
    if ended.too_much:
        raise PiOutputTooLarge(gettext_noop("Pi wrote more than is allowed and was stopped."))
    if ended.code is None:
        template = gettext_noop("Pi was ended by signal %(signal)s.")
        raise PiFailed(Message(template, signal=ended.signal or "?"))
    if ended.code:
        raise PiFailed(Message(gettext_noop("Pi ended with code %(code)s."), code=ended.code))


def _transcript(request: RestructureRequest, ended: Ended) -> bytes:
    facts = {
        "source_file": request.source_file,
        "source_sha256": request.source_sha256,
        "code": ended.code,
        "signal": ended.signal,
        "too_slow": ended.too_slow,
        "too_much": ended.too_much,
    }
    head = json.dumps(facts, ensure_ascii=False).encode()
    return b"\n".join((head, b"--- stdout", ended.out, b"--- stderr", ended.error))


def _hint(kept: str) -> Message:
    if not kept:
        return Message(gettext_noop("What it said could not be kept; see the log."))
    return Message(gettext_noop("The operator finds what it said in debug/%(file)s."), file=kept)
