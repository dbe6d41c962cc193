"""Names of files: which may not be in a tree, and what the others are (spec 30, Reading)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from evidence.domain.tree import DISMISSALS_PATH, EVALUATION_PATH, MANIFEST_PATH

EVIDENCE_FOLDER = "evidence/"
"""Where everything but `workspace.yaml` lies; the paths of a tree are relative to it."""
PROPOSAL_PREFIX = "evidence/proposal-"
"""How the name of every proposal branch begins (spec 20, Two ways to apply)."""
SOURCE_FOLDER = "source/"
CURATED_FOLDER = "curated/"
MAX_PATH_BYTES = 1_000
PATH_REFUSED = "path_refused"
SYMLINK_REFUSED = "symlink_refused"

_GIT_SHORT_NAME = re.compile(r"git~[0-9]+\Z", re.IGNORECASE)
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class Place(StrEnum):
    """What a file is by where it lies; an `IGNORED` one still counts in the content digest."""

    UNIT = "unit"
    SOURCE = "source"
    MANIFEST = "manifest"
    EVALUATION = "evaluation"
    DISMISSALS = "dismissals"
    IGNORED = "ignored"


_PLACES = {
    MANIFEST_PATH: Place.MANIFEST,
    EVALUATION_PATH: Place.EVALUATION,
    DISMISSALS_PATH: Place.DISMISSALS,
    "README.md": Place.IGNORED,
}


def place_of(path: str) -> Place | None:
    """Give what a path relative to `evidence/` is, or None where nothing may lie.

    Files that begin with a dot, or lie in such a folder, are skipped under `source/` and refused
    elsewhere; under `curated/` only Markdown files may lie (spec 20, Sources).
    """
    hidden = "/." in path
    if path.startswith(SOURCE_FOLDER):
        return Place.IGNORED if hidden else Place.SOURCE
    if path.startswith(CURATED_FOLDER):
        return Place.UNIT if path.endswith(".md") and not hidden else None
    return _PLACES.get(path)


def is_safe_name(path: str) -> bool:
    """Tell whether a path names one file on every system, and every letter of it can be seen."""
    parts = path.split("/")
    return (
        len(path.encode("utf-8", "surrogatepass")) <= MAX_PATH_BYTES
        and "\\" not in path
        and not any(part in {"", ".", ".."} or _is_git_folder(part) for part in parts)
        and (path.isascii() or unicodedata.is_normalized("NFC", path))
        and not any(unicodedata.category(letter) in _UNSEEN for letter in path)
    )


def is_allowed(path: str) -> bool:
    """Tell whether a path relative to `evidence/` may be in a tree (twins apart)."""
    return is_safe_name(path) and place_of(path) is not None


def twins(paths: Iterable[str]) -> frozenset[str]:
    """Give the paths that equal another one after NFC and case folding."""
    folded = {path: unicodedata.normalize("NFC", path).casefold() for path in paths}
    counts = Counter(folded.values())
    return frozenset(path for path, name in folded.items() if counts[name] > 1)


def _is_git_folder(part: str) -> bool:
    # Windows drops trailing dots and blanks, and knows GIT~1 as another name of .git.
    name = part.rstrip(". ").lower()
    return name == ".git" or bool(_GIT_SHORT_NAME.match(name))
