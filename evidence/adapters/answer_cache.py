"""Answers of a model that passed every check, kept as files: nobody pays for them twice."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from evidence.adapters.strict_json import JsonRefused
from evidence.adapters.whole_files import write_whole
from evidence.adapters.wire import read_answer, write_answer
from evidence.ports import RestructureCandidate

logger = logging.getLogger(__name__)


class FileAnswerCache:
    """One file an answer, readable by its owner alone; a damaged file counts as none."""

    def __init__(self, folder: Path) -> None:
        """Take the folder, `PORTAL_HOME/cache/restructuring`; it is made when it is needed."""
        self._folder = folder

    def get(self, key: str) -> tuple[RestructureCandidate, ...] | None:
        """Give a kept answer, or None."""
        with suppress(OSError, JsonRefused):
            return read_answer(self._path(key).read_bytes())
        return None

    def put(self, key: str, answer: tuple[RestructureCandidate, ...]) -> None:
        """Keep an answer, whole or not at all; what cannot be written is only missed later."""
        try:
            write_whole(self._path(key), write_answer(answer))
        except OSError as error:
            logger.warning("An answer could not be kept in %s: %s", self._folder, error.strerror)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
