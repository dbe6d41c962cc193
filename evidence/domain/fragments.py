"""From a unit to the texts that are embedded and searched (spec 50, From unit to fragments)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evidence.domain.markdown import Block, blocks_of
from evidence.domain.rendering import Rendering, rendering_of
from evidence.domain.units import CuratedEvidence
from evidence.faults import CuratorFault
from evidence.messages import Message, gettext_noop

MAX_CHUNK_CHARS = 4_000
_PARAGRAPH = "\n\n"


class AtomicContentTooLarge(CuratorFault):
    """Something that may not be cut does not fit into one fragment."""

    code = "atomic_content_too_large"
    hint = gettext_noop("Shorten it, or split it in the source.")


@dataclass(frozen=True, slots=True)
class Fragment:
    """One searchable text of a unit; ordinals count from 0."""

    ordinal: int
    text: str


def render_fragments(
    unit: CuratedEvidence, max_chunk_chars: int = MAX_CHUNK_CHARS
) -> tuple[Fragment, ...]:
    """Give a unit's fragments, none longer than `max_chunk_chars` characters, in reading order.

    Pure and deterministic. A unit that fits is one fragment. Raises `AtomicContentTooLarge` when
    a formula, a value, a target, a rule, a table row, a block … does not fit with its labels.
    """
    rendering = rendering_of(unit)
    whole = rendering.text()
    if len(whole) <= max_chunk_chars:
        return (Fragment(0, whole),)
    if rendering.body:
        texts = _split_body(rendering, max_chunk_chars)
    elif rendering.atoms:
        texts = _split_atoms(rendering, max_chunk_chars)
    else:
        raise _too_large(len(whole), max_chunk_chars)
    return tuple(Fragment(ordinal, text) for ordinal, text in enumerate(texts))


def _split_atoms(rendering: Rendering, limit: int) -> Iterator[str]:
    room = limit - len(rendering.text(atoms=[""]))
    for atoms in _packed(rendering.atoms, room, len("\n")):
        yield rendering.text(atoms=atoms)


def _split_body(rendering: Rendering, limit: int) -> Iterator[str]:
    def room_below(path: tuple[str, ...]) -> int:
        return limit - len(rendering.text(body="", path=path))

    for blocks in _sections(blocks_of(rendering.body), room_below):
        path = blocks[0].path
        room = room_below(path)
        texts = [text for block in blocks for text in _fitting(block, room)]
        for part in _packed(texts, room, len(_PARAGRAPH)):
            yield rendering.text(body=_PARAGRAPH.join(part), path=path)


def _sections(
    blocks: Sequence[Block], room_below: Callable[[tuple[str, ...]], int]
) -> Iterator[Sequence[Block]]:
    """Split at the outermost headings, and deeper only where a section does not fit."""
    cuts = _outermost_headings(blocks)
    if _length(blocks) <= room_below(blocks[0].path):
        yield blocks
    elif cuts:
        for first, last in pairwise([0, *cuts, len(blocks)]):
            section = blocks[first:last]
            if not _is_said_below(section, blocks[last : last + 1]):
                yield from _sections(section, room_below)
    else:
        # Each part names the heading in its path, so that the heading itself is said already.
        yield blocks[1:] if blocks[0].heading and len(blocks) > 1 else blocks


def _outermost_headings(blocks: Sequence[Block]) -> list[int]:
    depths = {at: len(block.path) for at, block in enumerate(blocks) if at and block.heading}
    return [at for at, depth in depths.items() if depth == min(depths.values())]


def _is_said_below(section: Sequence[Block], following: Sequence[Block]) -> bool:
    """Tell whether a section is a bare heading that the path of the next one repeats."""
    bare = len(section) == 1 and section[0].heading
    return bool(bare and following and len(following[0].path) > len(section[0].path))


def _length(blocks: Sequence[Block]) -> int:
    return sum(len(block.text) for block in blocks) + len(_PARAGRAPH) * (len(blocks) - 1)


def _fitting(block: Block, room: int) -> Iterator[str]:
    """Give the block whole where it fits, else cut between its pieces."""
    if len(block.text) <= room or not block.pieces:
        yield block.text
        return
    preamble = f"{block.preamble}\n" if block.preamble else ""
    for pieces in _packed(block.pieces, room - len(preamble), len("\n")):
        yield preamble + "\n".join(pieces)


def _packed(atoms: Iterable[str], room: int, joint: int) -> Iterator[list[str]]:
    """Fill parts in order with atoms that are never cut. Raises `AtomicContentTooLarge`."""
    part: list[str] = []
    used = 0
    for atom in atoms:
        if len(atom) > room:
            raise _too_large(len(atom), room)
        if part and used + joint + len(atom) > room:
            yield part
            part, used = [], 0
        used += len(atom) + (joint if part else 0)
        part.append(atom)
    yield part


def _too_large(length: int, room: int) -> AtomicContentTooLarge:
    template = gettext_noop(
        "%(length)s characters that may not be cut do not fit into the %(room)s that are free."
    )
    return AtomicContentTooLarge(Message(template, length=length, room=max(room, 0)))
