"""Change files in a tree of Git's: only the folders on the way to them are read and made anew."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evidence.adapters.git_objects import Lookup
from evidence.adapters.git_pack import Made
from evidence.ports import Entry

FILE = b"100644"
FOLDER = b"40000"
_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_Known = tuple[bytes, bytes]
"""Mode and binary id of what a folder holds under a name."""


class Folder:
    """A folder as a revision has it and as it becomes; folders in it are opened when needed."""

    def __init__(self, lookup: Lookup, tree: bytes | None) -> None:
        """Read a tree by its binary id; None begins with nothing."""
        self._lookup = lookup
        data = b"" if tree is None else lookup.get(tree.hex(), "tree")
        self.known: dict[bytes, _Known] = {
            name: (mode, found) for mode, name, found in _ENTRY.findall(data)
        }
        self.opened: dict[bytes, Folder] = {}

    def entry(self, path: str) -> Entry | None:
        """Give a file as it stood when its folder was opened; None for a folder, or nothing."""
        *folders, name = _parts(path)
        place = self
        for folder in folders:
            if not place._is_folder(folder):
                return None
            place = place._inside(folder)
        mode, found = place.known.get(name, (FOLDER, b""))
        return None if mode == FOLDER else Entry(path, mode.decode(), found.hex())

    def put(self, path: str, blob: Made) -> None:
        """Let a path be this file, whatever was there before."""
        *folders, name = _parts(path)
        place = self
        for folder in folders:
            place = place._inside(folder)
        place.opened.pop(name, None)
        place.known[name] = (FILE, blob.id)

    def remove(self, path: str) -> None:
        """Let nothing be at a path."""
        *folders, name = _parts(path)
        place = self
        for folder in folders:
            if not place._is_folder(folder):
                return
            place = place._inside(folder)
        place.opened.pop(name, None)
        place.known.pop(name, None)

    def made(self) -> tuple[Made, ...]:
        """Give the trees to store, this one last; a folder without files is left out of its own."""
        inner: list[Made] = []
        for name, folder in self.opened.items():
            trees = folder.made()
            if folder.known:
                inner.extend(trees)
                self.known[name] = (FOLDER, trees[-1].id)
            else:
                del self.known[name]
        rows = (
            b"%s %s\0%s" % (mode, name, found)
            for name, (mode, found) in sorted(self.known.items(), key=_order)
        )
        return (*inner, Made("tree", b"".join(rows)))

    def _is_folder(self, name: bytes) -> bool:
        return name in self.known and self.known[name][0] == FOLDER

    def _inside(self, name: bytes) -> Folder:
        if name not in self.opened or not self._is_folder(name):
            tree = self.known[name][1] if self._is_folder(name) else None
            self.opened[name] = Folder(self._lookup, tree)
            self.known[name] = (FOLDER, tree or b"")
        return self.opened[name]


def _parts(path: str) -> Iterable[bytes]:
    return path.encode("utf-8", "surrogateescape").split(b"/")


def _order(item: tuple[bytes, _Known]) -> bytes:
    """Sort as Git does: a folder's name as if it ended with a slash."""
    name, (mode, _) = item
    return name + b"/" if mode == FOLDER else name
