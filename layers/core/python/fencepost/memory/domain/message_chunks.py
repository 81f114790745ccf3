"""Messages in the index: which there are, in which parts, what each part's entry says, and what is left to do for it.

A conversation is one flat sequence of parts. A part is found by its own words, by the words of the parts around it, and
by a vector in which both have a share. So a new message changes its neighbours' entries, and no others.
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
"""A message's number, and a part's in it."""
type Span = tuple[int, int]
type SpanSplitter = Callable[[str], Sequence[Span]]
"""Cuts a message's content into parts whose spans tile it: `spans`, with the embedder's tokens and bounds."""

_VERSION_DIGITS: Final = 7  # Of hexadecimal: 28 bits, which every index holds as a number.


@dataclass(frozen=True, slots=True)
class MessageChunk:
    """A part of a message, as it is found."""

    message: str
    seq: int
    number: int
    start: int
    end: int
    said: Said

    @property
    def place(self) -> ChunkPlace:
        """Where it stands in its conversation."""
        return self.seq, self.number

    @property
    def spoken(self) -> str:
        """What is embedded of it."""
        return message_fields(self.said).passage

    @property
    def passage(self) -> str:
        """SHA-256 hex digest of what is embedded of it."""
        return hashlib.sha256(self.spoken.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ChunkContext:
    """A part between its neighbours, each side in the order of the conversation."""

    part: MessageChunk
    before: Sequence[MessageChunk] = ()
    after: Sequence[MessageChunk] = ()

    @property
    def together(self) -> tuple[MessageChunk, ...]:
        """The part and its neighbours: all whose vectors have a share in its entry."""
        return (self.part, *self.before, *self.after)

    @property
    def fields(self) -> Fields:
        """What its entry is found by."""
        return message_fields(self.part.said, *([one.said for one in side] for side in (self.before, self.after)))

    def version(self, model: str) -> int:
        """Return the version of its entry, made with a model: it changes with whatever the entry is made of."""
        fields, part = self.fields, self.part
        sides = [[one.passage for one in side] for side in (self.before, self.after)]
        told = [model, part.message, part.seq, part.start, part.end, fields.text, fields.context, part.passage, sides]
        return int(hashlib.sha256(json.dumps(told).encode()).hexdigest()[:_VERSION_DIGITS], 16) or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWindow:
    """Parts that follow each other, as they were read.

    Attributes:
        begins: nothing of the conversation stands before them.
        ends: nothing stands after them.
    """

    parts: Sequence[MessageChunk]
    begins: bool
    ends: bool

    def placed(self) -> tuple[ChunkContext, ...]:
        """Return those parts whose neighbours are all among them."""
        first = 0 if self.begins else REACH
        last = len(self.parts) - (0 if self.ends else REACH)
        return tuple(
            ChunkContext(self.parts[n], self.parts[max(0, n - REACH) : n], self.parts[n + 1 : n + 1 + REACH])
            for n in range(first, last)
        )

    def covers(self, row: MessageChunkRow) -> bool:
        """Tell whether a row stands where those parts do: without one of them, it is a row too many."""
        place = row.seq, row.number
        after_first = self.begins or self.parts[:REACH][-1].place < place
        return after_first and (self.ends or place < self.parts[-REACH:][0].place)


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """A part that needs a new entry.

    Attributes:
        row: as it will be, without its vector and without its entry's id.
        former: as it is, where there is one.
    """

    placed: ChunkContext
    row: MessageChunkRow
    former: MessageChunkRow | None

    def written(self, vector: Vector, stored_id: str) -> MessageChunkRow:
        """Return the row that knows the new entry, and the one that searches find until they find the new one."""
        known = (self.former.stale_id or self.former.stored_id) if self.former else ""
        return replace(self.row, vector=vector, stored_id=stored_id, stale_id=known if known != stored_id else "")

    def surplus(self, stored_id: str) -> str:
        """Return an entry that was to take the place of another, and has itself been replaced before it could."""
        former = self.former
        return former.stored_id if former and former.stale_id and former.stored_id != stored_id else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPlan:
    """What is left to do.

    Attributes:
        current: rows whose entries are as they would be made now.
        due: parts that need an entry.
        vanishing: rows of parts that there are not any more.
    """

    current: tuple[MessageChunkRow, ...]
    due: tuple[PendingEntry, ...]
    vanishing: tuple[MessageChunkRow, ...]


def spans(text: str, count: Callable[[str], int], bounds: Bounds) -> Sequence[Span]:
    """Return the spans of a message's parts, in code points, which tile it. Most messages are of one part."""
    if count(text) <= bounds.most:
        return ((0, len(text)),)
    return tuple((piece.start, piece.end) for piece in chunk(text, count, bounds, language_of(text)))


def is_remembered(message: Message, kept_from: int) -> bool:
    """Tell whether a message is to be found, where it has words: an answered question, or an answer that stands."""
    return message.is_settled and message.seq >= kept_from


def chunks_of(message: Message, kept_from: int, cutter: SpanSplitter) -> tuple[MessageChunk, ...]:
    """Return a message's parts, without citation markers; none of one that is not to be found.

    A part without words is none.
    """
    if not is_remembered(message, kept_from):
        return ()
    day, pieces = message.created_at.date(), list[MessageChunk]()
    for number, (start, end) in enumerate(cutter(message.content)):
        said = Said(words_of(message.content, start, end), day)
        pieces.append(MessageChunk(message.id, message.seq, number, start, end, said))
    return tuple(piece for piece in pieces if piece.said.words)


def entry_plan(stretch: ChunkWindow, rows: Sequence[MessageChunkRow], model: str) -> EntryPlan:
    """Compare parts with the rows that there are."""
    known = {(row.seq, row.number): row for row in rows if stretch.covers(row)}
    current, due = list[MessageChunkRow](), list[PendingEntry]()
    for placed in stretch.placed():
        row, former = _row(placed, model), known.pop(placed.part.place, None)
        if former and former.stored_id and (former.message, former.version) == (row.message, row.version):
            current.append(former)
        else:
            due.append(PendingEntry(placed, row, former))
    return EntryPlan(current=tuple(current), due=tuple(due), vanishing=tuple(known.values()))


def known_vectors(rows: Iterable[MessageChunkRow], model: str) -> dict[str, Vector]:
    """Return, by the digests of what was embedded, the vectors that a model made."""
    return {row.passage: row.vector for row in rows if row.vector and row.model == model}


def entry_of(scope: Scope, conversation_id: str, due: PendingEntry, vectors: Mapping[str, Vector]) -> IndexEntry:
    """Return a part's entry. Its owner alone finds it.

    Args:
        scope: whose conversation it is.
        conversation_id: of that.
        due: the part.
        vectors: of the part and of its neighbours, by the digests of what was embedded.
    """
    placed, fields = due.placed, due.placed.fields
    before, after = ([vectors[one.passage] for one in side] for side in (placed.before, placed.after))
    return IndexEntry(
        chunk=due.row.chunk,
        org=scope.org,
        owner=scope.owner,
        kind="message",
        parent=conversation_id,
        version=due.row.version,
        text=fields.text,
        context=fields.context,
        model=due.row.model,
        language=language_of(placed.part.said.words),
        position=due.row.seq,
        vector=blended(vectors[placed.part.passage], before, after),
    )


def _row(placed: ChunkContext, model: str) -> MessageChunkRow:
    part = placed.part
    return MessageChunkRow(
        message=part.message,
        seq=part.seq,
        number=part.number,
        start=part.start,
        end=part.end,
        passage=part.passage,
        model=model,
        version=placed.version(model),
    )
