"""The sections of a text: what stands under one heading, with the headings above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fencepost.documents.domain.chunking.blocks import BlockKind, MarkdownBlock

MAX_SECTIONS: Final = 10_000
"""Up to so many, each section of a text is one; beyond, those shorter than `ROOMY_CHARACTERS` are joined."""
ROOMY_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class OutlineSection:
    """Blocks of one place in a text, and the plain text of the headings above it, outermost first."""

    breadcrumb: tuple[str, ...]
    blocks: tuple[MarkdownBlock, ...]


def outline(blocks: Sequence[MarkdownBlock]) -> Iterator[OutlineSection]:
    """Yield the sections of a text.

    A heading that nothing but headings and noise stands below begins the section of the next one that has a body.
    """
    trail: list[tuple[int, str]] = []
    pending: list[MarkdownBlock] = []
    has_body, count = False, 0
    for block in blocks:
        if block.level:
            if has_body and (count < MAX_SECTIONS or block.start - pending[0].start >= ROOMY_CHARACTERS):
                yield OutlineSection(_names(trail), tuple(pending))
                pending, has_body, count = [], False, count + 1
            if not has_body:
                trail = [above for above in trail if above[0] < block.level] + [(block.level, block.title)]
        pending.append(block)
        has_body = has_body or block.kind in (BlockKind.PROSE, BlockKind.SOLID)
    if pending:
        yield OutlineSection(_names(trail), tuple(pending))


def _names(trail: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(title for _, title in trail if title)
