"""Archiving: move old messages from the table to S3 in blocks. Each block is read back before its rows are removed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import (
    BLOCK_MESSAGES,
    ArchiveBlock,
    DamagedBlock,
    describe,
    is_due,
    is_over,
    movable,
    pack,
    unpack,
)
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Retention
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.lifecycle.ports import ArchiveStore
from fencepost.lifecycle.service.retention import RetentionService
from fencepost.queue.domain import Job

_GZIP = "application/gzip"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveService:
    """Handler of `Purpose.ARCHIVE`: removes a conversation's expired messages, and moves other old ones into blocks.

    A conversation without messages in which no turn is open is removed itself. Every step leaves all kept messages
    readable, and the next run continues an interrupted one.
    """

    archive: ArchiveStore
    blobs: BlobStore
    sites: SiteService
    retention: RetentionService
    clock: Clock

    def run(self, scope: Scope, job: Job) -> None:
        """Run the job; do nothing if the conversation was erased or replaced by another one of its id.

        Raises:
            FencepostError: `conversations_unavailable` or `index_unavailable`; the next run continues.
        """
        conversation, now = self.archive.conversation(scope, job.conversation or ""), self.clock()
        if conversation is None or job.incarnation not in (None, conversation.incarnation):
            return
        rules = self.sites.of_conversation(scope.org, conversation.site).retention
        kept = self.retention.apply(scope, conversation, rules, now)
        self._tidy(scope, self._move(scope, kept, rules))
        if is_over(kept, now):
            self.retention.finish(scope, kept)
            self.archive.drop_files(scope, kept.id)
            # Last, because the next run finds unfinished work by this row.
            self.archive.end(scope, kept)

    def _move(self, scope: Scope, conversation: Conversation, rules: Retention) -> Conversation:
        while is_due(conversation, rules):
            moved = self._next_block(scope, conversation)
            if moved is None:
                break
            conversation = moved
        return conversation

    def _next_block(self, scope: Scope, conversation: Conversation) -> Conversation | None:
        """Move one block; None if no block is complete, or another writer has changed the messages."""
        through = conversation.archived_through
        rows = movable(self.archive.rows(scope, conversation.id, after=through, limit=BLOCK_MESSAGES))
        if not rows:
            return None
        block = self._stored(scope, conversation, rows)
        if not self.archive.move(scope, conversation, block, rows):
            return None
        return replace(conversation, archived_through=block.last_seq)

    def _stored(self, scope: Scope, conversation: Conversation, rows: tuple[Message, ...]) -> ArchiveBlock:
        """Write a block and read it back: rows are replaced only by content that S3 has returned."""
        content = pack(rows)
        block = describe(objects.block(conversation.id, rows[0].seq, content), content, rows)
        self.blobs.put(scope, block.object, content, _GZIP)
        try:
            same = unpack(block, self.blobs.get(scope, block.object) or b"") == rows
        except DamagedBlock:
            same = False
        if not same:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        return block

    def _tidy(self, scope: Scope, conversation: Conversation) -> None:
        """Remove objects that archived messages do not need: big contents, which blocks contain, and unused blocks."""
        named = {block.object for block in self.archive.blocks(scope, conversation.id)}
        prefixes = (objects.big_contents(conversation.id), objects.blocks(conversation.id))
        for name in [name for prefix in prefixes for name in self.blobs.names(scope, prefix)]:
            # Above this number, the object may belong to a block whose row is not stored yet.
            if objects.seq_of(name) <= conversation.archived_through and name not in named:
                self.blobs.delete(scope, name)
