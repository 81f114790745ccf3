"""What the table knows of messages in the index: a row for each part, beside the messages and erased with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from fencepost.kernel.text import normalise
from fencepost.prompting.domain.citations import without_markers
from fencepost.retrieval.domain.search import Vector

BACK: Final = 12
"""Messages: how far behind the last one that it knows a job looks for changes. Who changes an older one says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageChunkRow:
    """A part of a message, as far as the index holds it. Its words are the message's own, and stand nowhere else.

    Attributes:
        message: id.
        seq: the message's.
        number: which part of it, from 0: a long message is found by its parts, as a long document is.
        start, end: its span in the message's content, in code points, end exclusive.
        passage: SHA-256 hex digest of what was embedded.
        vector: the part's own, without its neighbours' share; never in a cache that outlives the message.
        model: that made the vector.
        version: of its entry, which changes with whatever the entry is made of, its neighbours included.
        stored_id: what the index calls its entry; empty until it is there.
        stale_id: what the index calls an older entry of it, which is to be removed once the newer one is found.
    """

    message: str
    seq: int
    number: int
    start: int
    end: int
    passage: str
    model: str
    version: int
    stored_id: str = ""
    stale_id: str = ""
    vector: Vector = field(default=(), repr=False)

    @property
    def chunk(self) -> str:
        """What its entry names as its row: `<message>#<number>`."""
        return f"{self.message}#{self.number}"

    @property
    def entry_ids(self) -> tuple[str, ...]:
        """What the index calls its entries: none, one, or an older one as well."""
        return tuple(filter(None, (self.stored_id, self.stale_id)))


def words_of(content: str, start: int, end: int) -> str:
    """Return what a span of a message's content says, as it is found and shown.

    Whoever wrote it, nothing in it is hidden, and nothing reads as a citation, not even once it is normalised.
    """
    return without_markers(normalise(content[start:end])).strip()
