"""Rows of message chunks: which chunks of a conversation have index entries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from fencepost.kernel.text import normalise
from fencepost.prompting.domain.citations import without_markers
from fencepost.retrieval.domain.search import Vector

BACK: Final = 12
"""Number of messages before the last processed one in which a job looks for changes. A writer that changes an older
message sets `Job.revises`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageChunkRow:
    """A chunk of a message and its index entry. The row holds no text: the text is read from the message.

    The row stands in the conversation's partition and is erased with it.

    Attributes:
        message: id of the message.
        seq: number of the message in its conversation.
        number: number of the chunk in its message, from 0.
        start, end: span of the chunk in the message's content, in code points, end exclusive.
        passage: SHA-256 hex digest of the embedded text.
        vector: vector of the chunk alone, without its neighbours' share. It is kept in no cache that outlives the
            message.
        model: name of the model that made the vector.
        version: version of the entry. It changes with everything the entry is made from, neighbours included; 0 marks
            an entry that is missing from the index.
        stored_id: the index's id of the entry; empty until it is written.
        stale_id: the index's id of an older entry, to be removed once searches find the newer one; empty otherwise.
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
        """Return the name by which the index entry refers to this row: `<message>#<number>`."""
        return f"{self.message}#{self.number}"

    @property
    def entry_ids(self) -> tuple[str, ...]:
        """Return the index's ids of the chunk's entries: two while an older one is still to be removed."""
        return tuple(filter(None, (self.stored_id, self.stale_id)))


def words_of(content: str, start: int, end: int) -> str:
    """Return the text of a span of a message's content, as it is indexed and shown.

    Hidden characters are removed, and so is everything that reads as a citation marker once the text is normalised.
    """
    return without_markers(normalise(content[start:end])).strip()
