"""Entries of messages and the rows that know them: written in an order that leaves no words where nobody looks.

New entries first, then the rows that know them; entries that were replaced go when the new ones are found. What is
removed goes the other way: the entries, then their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import batched
from typing import Final

from fencepost.conversations.domain.messages import Conversation
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import pages
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.memory.domain.message_chunks import PendingEntry, entry_of, known_vectors
from fencepost.memory.ports import MessageChunkStore
from fencepost.queue.service import WorkProgress
from fencepost.retrieval.domain.search import Vector
from fencepost.retrieval.ports import Embedder, Stored, VectorIndex
from fencepost.retrieval.service.index_errors import index_errors

AT_ONCE: Final = 64
"""Parts that are embedded, indexed and written together: less than one transaction holds."""
_LISTED: Final = 500


@dataclass(frozen=True, slots=True)
class MessageEntries:
    """What the index holds of conversations, as far as no embedder is needed."""

    parts: MessageChunkStore
    index: VectorIndex

    def forget(self, scope: Scope, conversation_id: str, through: int | None = None) -> None:
        """Remove what rows know of messages up to `through`, or of all.

        Raises:
            FencepostError: `index_unavailable` or `conversations_unavailable`; calling it again goes on.
        """
        with index_errors():
            self.remove(scope, conversation_id, self.parts.parts(scope, conversation_id, last=through))

    def forget_all(self, scope: Scope, conversation_id: str) -> None:
        """Remove all that there is of a conversation, entries of which no row knows included.

        Raises:
            FencepostError: as `forget`.
        """
        self.forget(scope, conversation_id)
        with index_errors():
            self._delete(scope, sorted(self._listed(scope, conversation_id)))

    def remove(self, scope: Scope, conversation_id: str, rows: Sequence[MessageChunkRow]) -> None:
        """Remove entries, then the rows that know them."""
        for some in batched(rows, AT_ONCE, strict=False):
            self._delete(scope, _entries_of(some))
            self.parts.drop_parts(scope, conversation_id, some)

    def compare(self, scope: Scope, conversation: Conversation) -> None:
        """Remove entries of which no row knows, and have entries made anew that are not there.

        An entry that is listed late is taken for missing: it is made twice then, and the older one goes. Entries are
        listed before rows are read: a conversation that is erased and comes back meanwhile loses none of its own.
        """
        listed = self._listed(scope, conversation.id)
        rows = self.parts.parts(scope, conversation.id)
        self._delete(scope, sorted(listed.keys() - set(_entries_of(rows))))
        lost = [row for row in rows if row.version and not _is_of(row, listed.get(row.stored_id))]
        kept = [replace(row, version=0) for row in lost if row.seq >= conversation.kept_from]
        for some in batched(kept, AT_ONCE, strict=False):
            self.parts.put_parts(scope, conversation, some)

    def settle(self, scope: Scope, conversation: Conversation, rows: Sequence[MessageChunkRow]) -> None:
        """Remove entries that were replaced, where searches find by now what took their place."""
        waiting = [row for row in rows if row.stale_id]
        for some in batched(waiting, AT_ONCE, strict=False):
            seen = self.index.visible(scope, [row.stored_id for row in some])
            if ready := [row for row in some if row.stored_id in seen]:
                self._delete(scope, [row.stale_id for row in ready])
                self.parts.put_parts(scope, conversation, [replace(row, stale_id="") for row in ready])

    def _listed(self, scope: Scope, conversation_id: str) -> dict[str, Stored]:
        """Return the entries of a conversation, by what the index calls them. Another owner's may have the same id."""
        listed = pages(lambda at: self.index.listed(scope, at, _LISTED, parent=conversation_id, owner=scope.owner))
        return {one.stored_id: one for some in listed for one in some}

    def _delete(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        if stored_ids:
            self.index.delete(scope, stored_ids)


@dataclass(slots=True, kw_only=True)
class Renewal:
    """Makes entries of one conversation.

    Attributes:
        rows: as they are. What they hold vectors of is not embedded again.
        progress: is set back while there may be entries of which no row knows, so that what fails there is looked for.
    """

    entries: MessageEntries
    embedder: Embedder
    scope: Scope
    conversation: Conversation
    rows: Sequence[MessageChunkRow]
    progress: WorkProgress
    vectors: dict[str, Vector] = field(init=False)

    def __post_init__(self) -> None:
        self.vectors = known_vectors(self.rows, self.embedder.model.name)

    def renew(self, due: Sequence[PendingEntry]) -> list[MessageChunkRow] | None:
        """Make entries and return the rows that know them; None where the conversation is not what it was any more."""
        written = list[MessageChunkRow]()
        for some in batched(due, AT_ONCE, strict=False):
            self._embed(some)
            rows = self._write(some)
            if rows is None:
                return None
            written += rows
        return written

    def _embed(self, due: Sequence[PendingEntry]) -> None:
        """Embed what no row holds. It goes into rows alone, which are erased with the conversation."""
        texts = {part.passage: part.spoken for one in due for part in one.placed.together}
        missing = {digest: text for digest, text in texts.items() if digest not in self.vectors}
        for some in batched(missing.items(), AT_ONCE, strict=False):
            made = self.embedder.passages([text for _, text in some])
            self.vectors |= zip(dict(some), made, strict=True)

    def _write(self, due: Sequence[PendingEntry]) -> list[MessageChunkRow] | None:
        index, before = self.entries.index, self.progress.through
        self.progress.through = 0
        ids = index.upsert(self.scope, [entry_of(self.scope, self.conversation.id, one, self.vectors) for one in due])
        pairs = list(zip(due, ids, strict=True))
        rows = [one.written(self.vectors[one.row.passage], stored_id) for one, stored_id in pairs]
        kept = self.entries.parts.put_parts(self.scope, self.conversation, rows)
        surplus = [one.surplus(stored_id) for one, stored_id in pairs] if kept else ids
        if unknown := list(filter(None, surplus)):
            index.delete(self.scope, unknown)
        self.progress.through = before
        return rows if kept else None


def _is_of(row: MessageChunkRow, entry: Stored | None) -> bool:
    """Tell whether an entry that a row knows is there, and is what the row says."""
    return entry is not None and (entry.version, entry.model) == (row.version, row.model)


def _entries_of(rows: Sequence[MessageChunkRow]) -> list[str]:
    """Return what the index calls the entries that rows know."""
    return [one for row in rows for one in row.entry_ids]
