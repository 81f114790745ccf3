"""Index entries of messages, and the chunk rows that refer to them.

Entries are written before their rows, and removed before their rows. So an entry without a row can only be left by a
run that was interrupted, and such a run leaves its progress at 0: the next one compares the index with the rows.
Replaced entries are removed once searches find the new ones.
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
"""Chunks that are embedded, indexed and written together: fewer than one transaction holds."""
_LISTED: Final = 500


@dataclass(frozen=True, slots=True)
class MessageEntries:
    """Removes, compares and settles entries: the operations that need no embedder."""

    chunks: MessageChunkStore
    index: VectorIndex

    def forget(self, scope: Scope, conversation_id: str, through: int | None = None) -> None:
        """Remove the entries and rows of messages up to `through`, or of all messages.

        Raises:
            FencepostError: `index_unavailable` or `conversations_unavailable`; calling it again continues.
        """
        with index_errors():
            self.remove(scope, conversation_id, self.chunks.chunks(scope, conversation_id, last=through))

    def forget_all(self, scope: Scope, conversation_id: str) -> None:
        """Remove all entries and rows of a conversation, including entries without a row.

        Raises:
            FencepostError: as `forget`.
        """
        self.forget(scope, conversation_id)
        with index_errors():
            self._delete(scope, sorted(self._listed(scope, conversation_id)))

    def remove(self, scope: Scope, conversation_id: str, rows: Sequence[MessageChunkRow]) -> None:
        """Remove the entries of these rows, then the rows."""
        for some in batched(rows, AT_ONCE, strict=False):
            self._delete(scope, _entry_ids(some))
            self.chunks.drop_chunks(scope, conversation_id, some)

    def compare(self, scope: Scope, conversation: Conversation) -> None:
        """Remove entries without a row, and mark rows without their entry, so that the entry is made again.

        An entry that the index lists late is taken for missing: it is then made twice, and the older one is removed.
        Entries are listed before rows are read, so that no entry is removed of a conversation that is erased and
        imported again in the meantime.
        """
        listed = self._listed(scope, conversation.id)
        rows = self.chunks.chunks(scope, conversation.id)
        self._delete(scope, sorted(listed.keys() - set(_entry_ids(rows))))
        missing = list[MessageChunkRow]()
        for row in rows:
            entry = listed.get(row.stored_id)
            is_current = entry is not None and (entry.version, entry.model) == (row.version, row.model)
            if row.version and row.seq >= conversation.kept_from and not is_current:
                missing.append(replace(row, version=0))
        for some in batched(missing, AT_ONCE, strict=False):
            self.chunks.put_chunks(scope, conversation, some)

    def settle(self, scope: Scope, conversation: Conversation, rows: Sequence[MessageChunkRow]) -> None:
        """Remove replaced entries where searches already find their successors."""
        replaced = [row for row in rows if row.stale_id]
        for some in batched(replaced, AT_ONCE, strict=False):
            visible = self.index.visible(scope, [row.stored_id for row in some])
            if ready := [row for row in some if row.stored_id in visible]:
                self._delete(scope, [row.stale_id for row in ready])
                self.chunks.put_chunks(scope, conversation, [replace(row, stale_id="") for row in ready])

    def _listed(self, scope: Scope, conversation_id: str) -> dict[str, Stored]:
        """Return the entries of an owner's conversation by their ids. Another owner's may have the same id."""
        listed = pages(lambda at: self.index.listed(scope, at, _LISTED, parent=conversation_id, owner=scope.owner))
        return {one.stored_id: one for some in listed for one in some}

    def _delete(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        if stored_ids:
            self.index.delete(scope, stored_ids)


@dataclass(slots=True, kw_only=True)
class Renewal:
    """Writes the pending entries of one conversation.

    Attributes:
        rows: stored rows. Texts whose vectors they hold are not embedded again.
        progress: is 0 while entries without rows may exist, so that the next run looks for them if this one fails.
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

    def renew(self, pending: Sequence[PendingEntry]) -> list[MessageChunkRow] | None:
        """Write entries and their rows.

        Returns:
            The rows; None if the conversation has been erased or replaced, or retention has reached a message.
        """
        written = list[MessageChunkRow]()
        for some in batched(pending, AT_ONCE, strict=False):
            self._embed(some)
            rows = self._write(some)
            if rows is None:
                return None
            written += rows
        return written

    def _embed(self, pending: Sequence[PendingEntry]) -> None:
        """Embed the texts that no row has a vector of.

        The vectors are stored in rows only, which are erased with the conversation.
        """
        texts = {chunk.passage: chunk.embedded_text for one in pending for chunk in one.context.chunks}
        missing = {digest: text for digest, text in texts.items() if digest not in self.vectors}
        for some in batched(missing.items(), AT_ONCE, strict=False):
            made = self.embedder.passages([text for _, text in some])
            self.vectors |= zip(dict(some), made, strict=True)

    def _write(self, pending: Sequence[PendingEntry]) -> list[MessageChunkRow] | None:
        index, before = self.entries.index, self.progress.through
        self.progress.through = 0
        ids = index.upsert(
            self.scope, [entry_of(self.scope, self.conversation.id, one, self.vectors) for one in pending]
        )
        pairs = list(zip(pending, ids, strict=True))
        rows = [one.written(self.vectors[one.row.passage], stored_id) for one, stored_id in pairs]
        stored = self.entries.chunks.put_chunks(self.scope, self.conversation, rows)
        surplus = [one.surplus(stored_id) for one, stored_id in pairs] if stored else ids
        if without_row := list(filter(None, surplus)):
            index.delete(self.scope, without_row)
        self.progress.through = before
        return rows if stored else None


def _entry_ids(rows: Sequence[MessageChunkRow]) -> list[str]:
    """Return the index's ids of the entries of these rows."""
    return [one for row in rows for one in row.entry_ids]
