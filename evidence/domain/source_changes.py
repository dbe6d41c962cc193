"""What became of each source since it was last prepared (spec 20, Preparation, step 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from evidence.domain.manifest import Manifest


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """Source paths by what happened to them, each sorted; `renamed` maps new paths to old ones."""

    unchanged: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] | None = None

    @property
    def old_paths(self) -> Mapping[str, str]:
        """Give for every renamed source the path the manifest still has for it."""
        return self.renamed or {}


def compare_sources(
    hashes: Mapping[str, str],
    manifest: Manifest,
    *,
    reprocess: bool,
    only: Collection[str] | None = None,
) -> SourceChanges:
    """Compare the hashes of the present sources with the manifest.

    `reprocess` calls every known source changed; `only` leaves all other paths out of account.
    A rename is a removed and a new source that share a hash with no third one.
    """
    known = {path: source.sha256 for path, source in manifest.sources.items()}
    new = [path for path in sorted(hashes) if path not in known]
    removed = [path for path in sorted(known) if path not in hashes]
    renamed = _renamed(
        {path: hashes[path] for path in new}, {path: known[path] for path in removed}
    )
    kept = [path for path in sorted(hashes) if path in known]
    changed = [path for path in kept if reprocess or hashes[path] != known[path]]
    differs, moved = set(changed), set(renamed.values())
    return SourceChanges(
        unchanged=_wanted([path for path in kept if path not in differs], None),
        new=_wanted([path for path in new if path not in renamed], only),
        changed=_wanted(changed, only),
        removed=_wanted([path for path in removed if path not in moved], only),
        renamed={
            path: old for path, old in renamed.items() if only is None or {path, old} & set(only)
        },
    )


def _renamed(new: Mapping[str, str], removed: Mapping[str, str]) -> dict[str, str]:
    gained, lost = Counter(new.values()), Counter(removed.values())
    old_path = {digest: path for path, digest in removed.items()}
    return {
        path: old_path[digest]
        for path, digest in new.items()
        if gained[digest] == 1 and lost[digest] == 1
    }


def _wanted(paths: list[str], only: Collection[str] | None) -> tuple[str, ...]:
    return tuple(path for path in paths if only is None or path in only)
