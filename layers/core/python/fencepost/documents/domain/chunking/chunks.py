"""A text cut into pieces."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from fencepost.documents.domain.chunking.blocks import find_blocks
from fencepost.documents.domain.chunking.bounds import Bounds, Count, Ruler
from fencepost.documents.domain.chunking.outline import OutlineSection, outline
from fencepost.documents.domain.chunking.packing import packed
from fencepost.documents.domain.chunking.sentences import sentences
from fencepost.documents.domain.chunking.units import Unit, Units, UnitSplitter
from fencepost.documents.domain.documents import Chunk

_ID_DIGITS: Final = 32
_DEFAULT: Final = Bounds()


def chunk(text: str, count: Count, bounds: Bounds = _DEFAULT, language: str = "") -> tuple[Chunk, ...]:
    """Cut a text into pieces whose spans tile it; white space alone has none.

    A piece lies within one section and begins where the text can be cut best: at a heading, a block, an item of a list,
    a sentence. Code blocks and tables are whole unless one alone exceeds `bounds.whole`. The same text is cut alike,
    and an edit changes the pieces near it and no others. It takes linear time.

    Args:
        text: Markdown or plain text, canonical.
        count: the embedder's tokens of a text.
        bounds: lengths of the pieces.
        language: BCP 47 of the text, empty where unknown.
    """
    if not text or text.isspace():
        return ()
    cutter = _Cutter(text, Ruler(count), bounds, language)
    return tuple(_named(piece for section in outline(find_blocks(text)) for piece in cutter.pieces(section)))


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts one text."""

    text: str
    ruler: Ruler
    bounds: Bounds
    language: str

    def pieces(self, section: OutlineSection) -> Iterator[Chunk]:
        """Yield the pieces of a section, without ids."""
        units = list(Units(self.text, self.ruler, self.bounds, self.language).of(section))
        runs = packed(self.text, units, self.bounds)
        for before, run in pairwise([(), *runs]):
            start, end = run[0].start, run[-1].end
            lead = self._lead(before[-1], run[0]) if before else ""
            yield Chunk(
                id="", start=start, end=end, text=self.text[start:end], breadcrumb=section.breadcrumb, lead=lead
            )

    def _lead(self, before: Unit, first: Unit) -> str:
        """Return the last whole sentences before a unit, up to `bounds.overlap` tokens together."""
        if not before.prose or not UnitSplitter.SENTENCE <= first.cut <= UnitSplitter.BLOCK:
            return ""
        said = sentences(self.text[before.body : before.end], self.language)
        left, place = self.bounds.overlap, before.end
        # Of a sentence that is cut itself, its end is not one.
        for sentence in reversed(said[before.cut < UnitSplitter.SENTENCE :]):
            left -= self.ruler.tokens(sentence)
            if left < 0:
                break
            place -= len(sentence)
        return self.text[place : before.end]


def _named(pieces: Iterator[Chunk]) -> Iterator[Chunk]:
    seen: Counter[tuple[tuple[str, ...], str, str]] = Counter()
    for piece in pieces:
        words = (piece.breadcrumb, piece.lead, piece.text)
        named = json.dumps((*words, seen[words])).encode()
        seen[words] += 1
        yield replace(piece, id=hashlib.sha256(named).hexdigest()[:_ID_DIGITS])
