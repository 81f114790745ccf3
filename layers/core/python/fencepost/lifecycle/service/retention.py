"""Retention: remove messages that are older than their site keeps them, oldest first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import BLOCK_MESSAGES, cutoff
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Retention
from fencepost.lifecycle.ports import ArchiveStore
from fencepost.memory.ports import MemoryStore
from fencepost.memory.service.message_entries import MessageEntries


@dataclass(frozen=True, slots=True)
class RetentionService:
    """Applies a site's retention to one conversation.

    Expired messages are hidden first, by the bound `kept_from` in the conversation's row, and then removed by that
    bound. So the next run finishes an interrupted one. Index entries of messages are removed before the messages.

    Attributes:
        entries: index entries of messages; None without an index.
    """

    archive: ArchiveStore
    memory: MemoryStore
    blobs: BlobStore
    entries: MessageEntries | None = None

    def apply(self, scope: Scope, conversation: Conversation, retention: Retention, now: datetime) -> Conversation:
        """Remove expired messages, and return the conversation as it is afterwards.

        A block is removed once its newest message has expired; until then its expired messages are hidden.

        Raises:
            FencepostError: `conversations_unavailable` or `index_unavailable`; the next run removes the rest.
        """
        oldest = cutoff(retention.days, now)
        if oldest is None:
            return conversation
        rows = self._expired_rows(scope, conversation, oldest)
        kept = self._hide(scope, conversation, self._first_kept(scope, conversation, rows, oldest))
        summary = self.memory.summary(scope, kept.id)
        # The next job makes a summary of the remaining messages. A carried summary is older than the conversation's
        # first message, and is dropped as well.
        if summary and summary.first_seq < kept.kept_from:
            self.memory.drop_summary(scope, kept.id)
        if self.entries:
            self.entries.forget(scope, kept.id, kept.kept_from - 1)
        for block in self.archive.blocks(scope, kept.id):
            if block.last_seq >= kept.kept_from:
                continue
            # The block's row is removed last: by it the next run finds unfinished work.
            if block.object in self.blobs.names(scope, block.object):
                self.archive.drop_rows(scope, kept.id, self.archive.read(scope, block))
            self.blobs.delete(scope, objects.blocks(kept.id, block.first_seq))
            self.archive.drop_block(scope, kept.id, block)
        self._drop_rows(scope, kept)
        return kept

    def finish(self, scope: Scope, conversation: Conversation) -> None:
        """Remove the index entries of a conversation whose messages have all been removed.

        Raises:
            FencepostError: as `apply`.
        """
        if self.entries:
            self.entries.forget_all(scope, conversation.id)

    def _expired_rows(self, scope: Scope, conversation: Conversation, oldest: datetime) -> tuple[Message, ...]:
        """Return the last batch of the expired rows that precede the first row to be kept."""
        last: tuple[Message, ...] = ()
        after = 0
        while rows := self.archive.rows(scope, conversation.id, after=after, limit=BLOCK_MESSAGES):
            expired = _expired_run(rows, oldest)
            last = expired or last
            if len(expired) < len(rows):
                break
            after = rows[-1].seq
        return last

    def _first_kept(self, scope: Scope, conversation: Conversation, rows: tuple[Message, ...], oldest: datetime) -> int:
        """Return the number of the first message to be kept.

        Args:
            scope: the owner's.
            conversation: the conversation.
            rows: the last of its expired rows.
            oldest: messages from before this time have expired.
        """
        if rows:
            return rows[-1].seq + 1
        blocks = self.archive.blocks(scope, conversation.id)
        if blocks:
            first_stored = blocks[0].first_seq
        else:
            # The table's TTL may have removed rows before this job.
            left = self.archive.rows(scope, conversation.id, after=0, limit=1)
            first_stored = left[0].seq if left else conversation.next_seq
        first = max(conversation.kept_from, first_stored)
        for block in blocks:
            if block.last_at >= oldest:
                expired = _expired_run(self.archive.read(scope, block), oldest) if block.first_at < oldest else ()
                return expired[-1].seq + 1 if expired else first
            first = block.last_seq + 1
        return first

    def _hide(self, scope: Scope, conversation: Conversation, first: int) -> Conversation:
        if first <= conversation.kept_from:
            return conversation
        if not self.archive.keep_from(scope, conversation, first):
            return conversation
        archived = max(conversation.archived_through, first - 1)
        return replace(conversation, kept_from=first, archived_through=archived, summarised_through=0)

    def _drop_rows(self, scope: Scope, conversation: Conversation) -> None:
        while rows := self.archive.rows(scope, conversation.id, after=0, limit=BLOCK_MESSAGES):
            hidden = [message for message in rows if message.seq < conversation.kept_from]
            for message in hidden:
                if len(message.content.encode()) > objects.BIG_BYTES:
                    self.blobs.delete(scope, objects.big_contents(conversation.id, message.seq))
            self.archive.drop_rows(scope, conversation.id, hidden)
            if len(hidden) < len(rows):
                return


def _expired_run(messages: tuple[Message, ...], oldest: datetime) -> tuple[Message, ...]:
    """Return the expired messages at the beginning, including questions that still wait for an answer."""
    return tuple(takewhile(lambda message: message.created_at < oldest, messages))
