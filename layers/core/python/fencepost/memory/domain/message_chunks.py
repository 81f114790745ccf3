"""Message chunks and their index entries: chunking, neighbours, and the plan of which entries to write.

The chunks of a conversation form one flat sequence. An entry is found by its chunk's own words, by the words of the
neighbouring chunks, and by a vector to which chunk and neighbours contribute. So a new message changes the entries of
its neighbours, and no others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fencepost.conversations.domain.messages import Message
from fencepost.documents.domain.chunking.bounds import Bounds
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.text import language_of
from fencepost.memory.domain.chunk_rows import MessageChunkRow, words_of
from fencepost.retrieval.domain.ranking.fields import REACH, Fields, Said, blended, message_fields
from fencepost.retrieval.domain.search import IndexEntry, Vector

type ChunkPlace = tuple[int, int]
"""Number of a message in its conversation, and number of a chunk in the message."""
type Span = tuple[int, int]
type SpanSplitter = Callable[[str], Sequence[Span]]
"""Splits a message's content into spans that tile it: `spans` with the embedder's token count and bounds."""

_VERSION_DIGITS: Final = 7  # Hexadecimal: 28 bits, which every index stores as a number.


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """A chunk of a message.

    Attributes:
        message: id of the message.
        seq: number of the message in its conversation.
        number: number of the chunk in its message, from 0.
        start, end: span in the message's content, in code points, end exclusive.
        said: the chunk's words, with the day they were written.
    """

    message: str
    seq: int
    number: int
    start: int
    end: int
    said: Said

    @property
    def place(self) -> ChunkPlace:
        """Return the chunk's position in its conversation."""
        return self.seq, self.number

    @property
    def embedded_text(self) -> str:
        """Return the text that is embedded."""
        return message_fields(self.said).passage

    @property
    def passage(self) -> str:
        """Return the SHA-256 hex digest of the embedded text."""
        return hashlib.sha256(self.embedded_text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ChunkContext:
    """A chunk with its neighbours, both sides in the order of the conversation."""

    chunk: MessageChunk
    before: Sequence[MessageChunk] = ()
    after: Sequence[MessageChunk] = ()

    @property
    def chunks(self) -> tuple[MessageChunk, ...]:
        """Return the chunk and its neighbours: all chunks that contribute to the entry's vector."""
        return (self.chunk, *self.before, *self.after)

    @property
    def fields(self) -> Fields:
        """Return the searchable fields of the entry."""
        return message_fields(self.chunk.said, *([one.said for one in side] for side in (self.before, self.after)))

    def version(self, model: str) -> int:
        """Return the version of the entry as made with a model. It changes with everything the entry is made from."""
        fields, own = self.fields, self.chunk
        sides = [[one.passage for one in side] for side in (self.before, self.after)]
        content = [model, own.message, own.seq, own.start, own.end, fields.text, fields.context, own.passage, sides]
        return int(hashlib.sha256(json.dumps(content).encode()).hexdigest()[:_VERSION_DIGITS], 16) or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWindow:
    """Consecutive chunks of a conversation.

    Attributes:
        begins: no chunk of the conversation precedes them.
        ends: no chunk of the conversation follows them.
    """

    chunks: Sequence[MessageChunk]
    begins: bool
    ends: bool

    def contexts(self) -> tuple[ChunkContext, ...]:
        """Return the chunks whose neighbours are all in the window."""
        first = 0 if self.begins else REACH
        last = len(self.chunks) - (0 if self.ends else REACH)
        return tuple(
            ChunkContext(self.chunks[n], self.chunks[max(0, n - REACH) : n], self.chunks[n + 1 : n + 1 + REACH])
            for n in range(first, last)
        )

    def covers(self, row: MessageChunkRow) -> bool:
        """Tell whether a row lies in the range of `contexts`: without a chunk there, the row is obsolete."""
        place = row.seq, row.number
        after_first = self.begins or self.chunks[:REACH][-1].place < place
        return after_first and (self.ends or place < self.chunks[-REACH:][0].place)


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """A chunk that needs a new entry.

    Attributes:
        context: the chunk and its neighbours.
        row: the new row, still without vector and entry id.
        former: the stored row, if there is one.
    """

    context: ChunkContext
    row: MessageChunkRow
    former: MessageChunkRow | None

    def written(self, vector: Vector, stored_id: str) -> MessageChunkRow:
        """Return the row of the new entry.

        Its `stale_id` is the entry that searches find until they find the new one.
        """
        found = (self.former.stale_id or self.former.stored_id) if self.former else ""
        return replace(self.row, vector=vector, stored_id=stored_id, stale_id=found if found != stored_id else "")

    def surplus(self, stored_id: str) -> str:
        """Return the id of an entry that is replaced before searches found it; empty if there is none.

        Args:
            stored_id: the index's id of the new entry.
        """
        former = self.former
        return former.stored_id if former and former.stale_id and former.stored_id != stored_id else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPlan:
    """Differences between the chunks of a window and their stored rows.

    Attributes:
        current: rows whose entries are up to date.
        pending: chunks that need a new entry.
        obsolete: rows of chunks that do not exist any more.
    """

    current: tuple[MessageChunkRow, ...]
    pending: tuple[PendingEntry, ...]
    obsolete: tuple[MessageChunkRow, ...]


def spans(text: str, count: Callable[[str], int], bounds: Bounds) -> Sequence[Span]:
    """Return the spans of a message's chunks, in code points. They tile the text; most messages have one chunk."""
    if count(text) <= bounds.most:
        return ((0, len(text)),)
    return tuple((piece.start, piece.end) for piece in chunk(text, count, bounds, language_of(text)))


def is_remembered(message: Message, kept_from: int) -> bool:
    """Tell whether a message is indexed if it has words: an answered question, or a current answer to one."""
    return message.is_settled and message.seq >= kept_from


def chunks_of(message: Message, kept_from: int, split: SpanSplitter) -> tuple[MessageChunk, ...]:
    """Return the chunks of a message, without citation markers; none if the message is not indexed.

    Chunks without words are left out.
    """
    if not is_remembered(message, kept_from):
        return ()
    day, chunks = message.created_at.date(), list[MessageChunk]()
    for number, (start, end) in enumerate(split(message.content)):
        said = Said(words_of(message.content, start, end), day)
        chunks.append(MessageChunk(message.id, message.seq, number, start, end, said))
    return tuple(one for one in chunks if one.said.words)


def entry_plan(window: ChunkWindow, rows: Sequence[MessageChunkRow], model: str) -> EntryPlan:
    """Compare the chunks of a window with their stored rows."""
    stored = {(row.seq, row.number): row for row in rows if window.covers(row)}
    current, pending = list[MessageChunkRow](), list[PendingEntry]()
    for context in window.contexts():
        row, former = _row(context, model), stored.pop(context.chunk.place, None)
        if former and former.stored_id and (former.message, former.version) == (row.message, row.version):
            current.append(former)
        else:
            pending.append(PendingEntry(context, row, former))
    return EntryPlan(current=tuple(current), pending=tuple(pending), obsolete=tuple(stored.values()))


def known_vectors(rows: Iterable[MessageChunkRow], model: str) -> dict[str, Vector]:
    """Return the vectors that a model made, by the digest of the embedded text."""
    return {row.passage: row.vector for row in rows if row.vector and row.model == model}


def entry_of(scope: Scope, conversation_id: str, pending: PendingEntry, vectors: Mapping[str, Vector]) -> IndexEntry:
    """Return the index entry of a chunk. Only its owner finds it.

    Args:
        scope: the owner's.
        conversation_id: id of the conversation.
        pending: the chunk.
        vectors: of the chunk and its neighbours, by the digest of the embedded text.
    """
    context, fields = pending.context, pending.context.fields
    before, after = ([vectors[one.passage] for one in side] for side in (context.before, context.after))
    return IndexEntry(
        chunk=pending.row.chunk,
        org=scope.org,
        owner=scope.owner,
        kind="message",
        parent=conversation_id,
        version=pending.row.version,
        text=fields.text,
        context=fields.context,
        model=pending.row.model,
        language=language_of(context.chunk.said.words),
        position=pending.row.seq,
        vector=blended(vectors[context.chunk.passage], before, after),
    )


def _row(context: ChunkContext, model: str) -> MessageChunkRow:
    own = context.chunk
    return MessageChunkRow(
        message=own.message,
        seq=own.seq,
        number=own.number,
        start=own.start,
        end=own.end,
        passage=own.passage,
        model=model,
        version=context.version(model),
    )
