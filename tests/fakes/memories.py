"""Messages as searches find them: rows of messages, rows of message chunks, and index entries."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from fencepost.conversations.domain.messages import Conversation, Message, MessageStatus
from fencepost.identity.domain.scope import Scope
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.memory.ports import HitRows, MessageChunkPlace
from fencepost.memory.service.passages import MessagePassages
from fencepost.model.domain import Role
from fencepost.retrieval.domain.search import IndexEntry
from tests.fakes.answers import FixedClock
from tests.fakes.conversations import FakeConversations, Shelf, owned
from tests.fakes.corpus import PortFaults
from tests.fakes.index import FakeEmbedder, FakeIndex, vector_of
from tests.fakes.parts import FakeParts
from tests.worlds.corpus_samples import NOON

MODEL = FakeEmbedder().model.name


@dataclass
class FakeMessageHits:
    """Implements `MessageHits`.

    Attributes:
        apart: numbers of messages whose content is too big for a row.
    """

    shelf: Shelf
    parts: FakeParts
    faults: PortFaults = field(default_factory=PortFaults)
    apart: set[tuple[str, int]] = field(default_factory=set)

    def hydrate(self, scope: Scope, wanted: Sequence[MessageChunkPlace]) -> HitRows:
        with self.faults.call("hydrate_messages"):
            rows = {one: self.shelf.conversations.get(owned(scope, one)) for one, _, _ in wanted}
            talks = {one: row for one, row in rows.items() if row}
            said = {(one, seq): self._row(scope, talks, one, seq) for one, seq, _ in wanted}
            messages = {place: message for place, message in said.items() if message}
            parts = {place: self.parts.rows.get(owned(scope, place[0]), {}).get(place[1:]) for place in wanted}
            return HitRows(
                conversations=talks,
                messages=messages,
                apart=frozenset(self.apart & messages.keys()),
                chunks={place: replace(part, vector=()) for place, part in parts.items() if part},
            )

    def _row(self, scope: Scope, talks: dict[str, Conversation], conversation_id: str, seq: int) -> Message | None:
        talk = talks.get(conversation_id)
        if talk is None or seq <= talk.archived_through:
            return None
        rows = self.shelf.messages.get(owned(scope, conversation_id), [])
        message = next((one for one in rows if one.seq == seq), None)
        return replace(message, content="") if message and (conversation_id, seq) in self.apart else message


@dataclass
class Diary:
    """Conversations of all owners. What is told here is in the index at once."""

    index: FakeIndex
    shelf: Shelf = field(default_factory=Shelf)
    clock: FixedClock = field(default_factory=FixedClock)
    parts: FakeParts = field(init=False)
    conversations: FakeConversations = field(init=False)
    hits: FakeMessageHits = field(init=False)

    def __post_init__(self) -> None:
        self.parts, self.conversations = FakeParts(self.shelf), FakeConversations(self.shelf)
        self.hits = FakeMessageHits(self.shelf, self.parts)

    def hydrator(self) -> MessagePassages:
        """Return what makes passages of hits."""
        return MessagePassages(self.hits, self.conversations, self.clock)

    def tell(self, scope: Scope, conversation_id: str, *texts: str, **fields: object) -> list[Message]:
        """Store a conversation that consists of these texts, question and answer in turns, and all of it as entries."""
        talk = conversation(conversation_id, next_seq=len(texts) + 1)
        self.shelf.conversations[owned(scope, talk.id)] = replace(talk, **fields)  # type: ignore[arg-type]  # by name
        messages = [message(talk.id, seq, text) for seq, text in enumerate(texts, start=1)]
        self.shelf.messages[owned(scope, talk.id)] = messages
        for one in messages:
            self.enter(scope, talk.id, one, (0, len(one.content)))
        return messages

    def enter(
        self, scope: Scope, conversation_id: str, said: Message, *spans: tuple[int, int]
    ) -> list[MessageChunkRow]:
        """Index a message in chunks with these spans, and return their rows."""
        rows = [part(said, number, span) for number, span in enumerate(spans)]
        entries = [entry(scope, conversation_id, row, said.content[row.start : row.end]) for row in rows]
        stored = self.index.upsert(scope, entries)
        known = [replace(row, stored_id=one) for row, one in zip(rows, stored, strict=True)]
        rows_of = self.parts.rows.setdefault(owned(scope, conversation_id), {})
        rows_of.update({(row.seq, row.number): row for row in known})
        return known

    def change(self, scope: Scope, conversation_id: str, **fields: object) -> None:
        """Change a conversation's row."""
        place = owned(scope, conversation_id)
        self.shelf.conversations[place] = replace(self.shelf.conversations[place], **fields)  # type: ignore[arg-type]  # by name

    def rewrite(self, scope: Scope, conversation_id: str, seq: int, **fields: object) -> None:
        """Change a message's row."""
        rows = self.shelf.messages[owned(scope, conversation_id)]
        rows[:] = [replace(row, **fields) if row.seq == seq else row for row in rows]  # type: ignore[arg-type]  # by name

    def erase(self, scope: Scope, conversation_id: str) -> None:
        """Remove a conversation's rows, and leave its entries where they are."""
        for rows in (self.shelf.conversations, self.shelf.messages, self.parts.rows):
            rows.pop(owned(scope, conversation_id), None)


def conversation(conversation_id: str, **fields: object) -> Conversation:
    """Return a conversation's row."""
    row = Conversation(
        id=conversation_id,
        site="docs",
        incarnation=f"i-{conversation_id}",
        title="Plans",
        created_at=NOON,
        updated_at=NOON,
        next_seq=1,
    )
    return replace(row, **fields)  # type: ignore[arg-type]  # fields by name


def message(conversation_id: str, seq: int, text: str, at: datetime = NOON) -> Message:
    """Return a message; the odd ones are questions, and the even ones answer them."""
    asked = seq % 2 == 1
    question = f"{conversation_id}-q{(seq + 1) // 2}"
    return Message(
        id=question if asked else f"{question}.1",
        seq=seq,
        role=Role.USER if asked else Role.ASSISTANT,
        content=text,
        created_at=at,
        status=MessageStatus.ANSWERED if asked else MessageStatus.COMPLETE,
        reply_to=None if asked else seq - 1,
    )


def part(said: Message, number: int, span: tuple[int, int]) -> MessageChunkRow:
    """Return the row of a chunk."""
    words = said.content[slice(*span)]
    return MessageChunkRow(
        message=said.id,
        seq=said.seq,
        number=number,
        start=span[0],
        end=span[1],
        passage=hashlib.sha256(words.encode()).hexdigest(),
        vector=vector_of(words),
        model=MODEL,
        version=1,
    )


def entry(scope: Scope, conversation_id: str, row: MessageChunkRow, words: str) -> IndexEntry:
    """Return the entry of a chunk."""
    return IndexEntry(
        chunk=row.chunk,
        org=scope.org,
        owner=scope.owner,
        kind="message",
        parent=conversation_id,
        version=row.version,
        text=words,
        model=row.model,
        position=row.seq,
        vector=row.vector,
    )
