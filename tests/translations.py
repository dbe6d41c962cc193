"""`make check`: every sentence in the code stands in the Italian catalogue, translated."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

PACKAGES = ("evidence", "publishing", "search_api", "portal")
CATALOGUE = Path("locale/it/LC_MESSAGES/django.po")


def read(path: Path) -> Catalog:
    """Read a catalogue; a missing one is empty."""
    if not path.exists():
        return Catalog(locale="it")
    with path.open("rb") as file:
        return read_po(file, locale="it")


def faults(path: Path) -> list[str]:
    """Name the untranslated and the doubtful entries of a catalogue."""
    return [
        f"{path}: {'doubtful' if message.fuzzy else 'untranslated'}: {message.id!r}"
        for message in read(path)
        if message.id and (message.fuzzy or not message.string or not all(_strings(message.string)))
    ]


def _strings(string: str | Sequence[str]) -> Sequence[str]:
    return (string,) if isinstance(string, str) else string


def extracted(package: Path, folder: Path) -> set[object]:
    """Give the msgids that `makemessages` finds in a copy of a package."""
    copy = folder / package.name
    shutil.copytree(
        package, copy, ignore=shutil.ignore_patterns("*.mo", "__pycache__", "migrations")
    )
    shutil.rmtree(copy / "locale", ignore_errors=True)
    (copy / "locale").mkdir()
    subprocess.run(
        [sys.executable, "-m", "django", "makemessages", "--locale", "it"],
        cwd=copy,
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(Path.cwd()), "DJANGO_SETTINGS_MODULE": ""},
    )
    return {message.id for message in read(copy / CATALOGUE) if message.id}


def missing(package: Path) -> list[str]:
    """Name what the code says and the catalogue does not know."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = extracted(package, Path(folder))
    known = {message.id for message in read(package / CATALOGUE)}
    return [f"{package / CATALOGUE}: missing: {name!r}" for name in sorted(wanted - known, key=str)]


def sort(path: Path) -> None:
    """Write a catalogue in one order and without line numbers, so that a change is a small diff."""
    catalogue = read(path)
    with path.open("wb") as file:
        write_po(file, catalogue, sort_output=True, no_location=True, width=0)


def main(arguments: list[str]) -> int:
    """Print what is wrong; 0 when nothing is."""
    packages = [Path(name) for name in PACKAGES]
    if arguments == ["--sort"]:
        for package in packages:
            sort(package / CATALOGUE)
    wrong = [line for package in packages for line in faults(package / CATALOGUE)]
    if shutil.which("xgettext"):
        wrong += [line for package in packages for line in missing(package)]
    else:
        print("gettext is not installed: only the entries that exist were checked.")
    print("\n".join(wrong) or "Translations complete.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
