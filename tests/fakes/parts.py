"""Rows of message chunks in plain memory, beside the fake conversations, with the same rules as the adapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fencepost.conversations.domain.messages import Conversation
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import Page
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from tests.fakes.conversations import Owned, Shelf, owned
from tests.fakes.corpus import PortFaults

type Place = tuple[int, int]
"""Number of a message, and of a chunk in it."""


@dataclass
class FakeParts:
    """Implements `MessageChunkStore` and `RememberedConversations`.

    Attributes:
        shelf: the conversations that rows are bound to.
        rows: what is stored, by conversation and place, to be looked at.
        written: the chunks whose rows were written, in order.
    """

    shelf: Shelf = field(default_factory=Shelf)
    faults: PortFaults = field(default_factory=PortFaults)
    rows: dict[Owned, dict[Place, MessageChunkRow]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)

    def chunks(
        self, scope: Scope, conversation_id: str, *, first: int = 1, last: int | None = None
    ) -> tuple[MessageChunkRow, ...]:
        with self.faults.call("parts"):
            rows = self.rows_of(scope, conversation_id)
            return tuple(row for row in rows if row.seq >= first and (last is None or row.seq <= last))

    def put_chunks(self, scope: Scope, conversation: Conversation, rows: Sequence[MessageChunkRow]) -> bool:
        with self.faults.call("put_chunks"):
            for row in rows:
                if not self._is_kept(scope, conversation, row):
                    return False
                self.rows.setdefault(owned(scope, conversation.id), {})[row.seq, row.number] = row
                self.written.append(row.chunk)
            return True

    def drop_chunks(self, scope: Scope, conversation_id: str, rows: Sequence[MessageChunkRow]) -> None:
        with self.faults.call("drop_chunks"):
            stored = self.rows.get(owned(scope, conversation_id), {})
            for row in rows:
                stored.pop((row.seq, row.number), None)

    def conversations(self, scope: Scope, *, after: str | None, limit: int) -> Page[tuple[str, str]]:
        with self.faults.call("conversations"):
            known = [place for place, rows in self.rows.items() if rows]
            listed = sorted((owner, one) for org, owner, one in known if org == scope.org)
            rest = [pair for pair in listed if after is None or "|".join(pair) > after]
            some = rest[:limit]
            return Page(tuple(some), "|".join(some[-1]) if len(rest) > limit else None)

    def rows_of(self, scope: Scope, conversation_id: str) -> list[MessageChunkRow]:
        """Return a conversation's rows in their order."""
        return [row for _, row in sorted(self.rows.get(owned(scope, conversation_id), {}).items())]

    def _is_kept(self, scope: Scope, conversation: Conversation, row: MessageChunkRow) -> bool:
        stored = self.shelf.conversations.get(owned(scope, conversation.id))
        return stored is not None and stored.incarnation == conversation.incarnation and row.seq >= stored.kept_from
