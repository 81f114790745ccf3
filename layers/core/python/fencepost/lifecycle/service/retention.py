"""Remove what a site does not keep any longer, oldest first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import BLOCK_MESSAGES, ArchiveBlock, cutoff
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Retention
from fencepost.lifecycle.ports import ArchiveStore
from fencepost.memory.ports import MemoryStore
from fencepost.memory.service.message_entries import MessageEntries


@dataclass(frozen=True, slots=True)
class RetentionService:
    """Applies a site's days to one conversation.

    What is too old is hidden first, by a number in the conversation's row. Removing then goes by that number, so a run
    that was cut short is finished by the next one. What the index holds of messages goes before they do.

    Attributes:
        entries: of messages in the index; None where there is none.
    """

    archive: ArchiveStore
    memory: MemoryStore
    blobs: BlobStore
    entries: MessageEntries | None = None

    def apply(self, scope: Scope, conversation: Conversation, retention: Retention, now: datetime) -> Conversation:
        """Remove messages from before the site's days, and return the conversation as it then is.

        The messages of a block go together, when the newest of them is too old; until then those that are are hidden.

        Raises:
            FencepostError: `conversations_unavailable` or `index_unavailable`; some is left for the next run.
        """
        oldest = cutoff(retention.days, now)
        if oldest is None:
            return conversation
        rows = self._old_rows(scope, conversation, oldest)
        kept = self._hide(scope, conversation, self._first_kept(scope, conversation, rows, oldest))
        self._drop_summary(scope, kept)
        if self.entries:
            self.entries.forget(scope, kept.id, kept.kept_from - 1)
        self._drop_blocks(scope, kept)
        self._drop_rows(scope, kept)
        return kept

    def finish(self, scope: Scope, conversation: Conversation) -> None:
        """Remove what the index still holds of a conversation of which nothing else is left.

        Raises:
            FencepostError: as `apply`.
        """
        if self.entries:
            self.entries.forget_all(scope, conversation.id)

    def _old_rows(self, scope: Scope, conversation: Conversation, oldest: datetime) -> tuple[Message, ...]:
        """Return the last batch of rows that are too old, one after the other from the first row on."""
        last: tuple[Message, ...] = ()
        after = 0
        while rows := self.archive.rows(scope, conversation.id, after=after, limit=BLOCK_MESSAGES):
            old = _leading(rows, oldest)
            last = old or last
            if len(old) < len(rows):
                break
            after = rows[-1].seq
        return last

    def _first_kept(self, scope: Scope, conversation: Conversation, rows: tuple[Message, ...], oldest: datetime) -> int:
        if rows:
            return rows[-1].seq + 1
        blocks = self.archive.blocks(scope, conversation.id)
        first = max(conversation.kept_from, blocks[0].first_seq if blocks else self._first_row(scope, conversation))
        for block in blocks:
            if block.last_at >= oldest:
                old = _leading(self.archive.read(scope, block), oldest) if block.first_at < oldest else ()
                return old[-1].seq + 1 if old else first
            first = block.last_seq + 1
        return first

    def _first_row(self, scope: Scope, conversation: Conversation) -> int:
        """Return the number of the first row that is left: the table's TTL may have been faster than this job."""
        rows = self.archive.rows(scope, conversation.id, after=0, limit=1)
        return rows[0].seq if rows else conversation.next_seq

    def _hide(self, scope: Scope, conversation: Conversation, first: int) -> Conversation:
        if first <= conversation.kept_from:
            return conversation
        if not self.archive.keep_from(scope, conversation, first):
            return conversation
        archived = max(conversation.archived_through, first - 1)
        return replace(conversation, kept_from=first, archived_through=archived, summarised_through=0)

    def _drop_summary(self, scope: Scope, conversation: Conversation) -> None:
        """Drop a summary that tells of what is hidden: the next job makes one of what is left.

        What was carried over is older than the conversation's first message, and goes too.
        """
        summary = self.memory.summary(scope, conversation.id)
        if summary and summary.first_seq < conversation.kept_from:
            self.memory.drop_summary(scope, conversation.id)

    def _drop_blocks(self, scope: Scope, conversation: Conversation) -> None:
        for block in self.archive.blocks(scope, conversation.id):
            if block.last_seq < conversation.kept_from:
                self._drop_block(scope, conversation.id, block)

    def _drop_block(self, scope: Scope, conversation_id: str, block: ArchiveBlock) -> None:
        """Remove what points into a block, then its object, then its row: that tells the next run what to finish."""
        if block.object in self.blobs.names(scope, block.object):
            self.archive.drop_rows(scope, conversation_id, self.archive.read(scope, block))
        self.blobs.delete(scope, objects.blocks(conversation_id, block.first_seq))
        self.archive.drop_block(scope, conversation_id, block)

    def _drop_rows(self, scope: Scope, conversation: Conversation) -> None:
        while rows := self.archive.rows(scope, conversation.id, after=0, limit=BLOCK_MESSAGES):
            hidden = [message for message in rows if message.seq < conversation.kept_from]
            for message in hidden:
                if len(message.content.encode()) > objects.BIG_BYTES:
                    self.blobs.delete(scope, objects.big_contents(conversation.id, message.seq))
            self.archive.drop_rows(scope, conversation.id, hidden)
            if len(hidden) < len(rows):
                return


def _leading(rows: tuple[Message, ...], oldest: datetime) -> tuple[Message, ...]:
    """Return the run of old rows, questions that still wait for an answer included."""
    return tuple(takewhile(lambda message: message.created_at < oldest, rows))
