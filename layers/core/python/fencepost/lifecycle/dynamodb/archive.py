"""Store of archived messages: moves messages from rows into blocks, and removes expired rows and blocks.

A block's row is stored and the rows of its messages are removed in one transaction. So each message is always in
exactly one of the two places, and a reader that reads rows first and blocks second misses none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import override

from pynamodb.expressions.condition import Condition

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import ArchiveBlock
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.rows.archived import ArchivedMessages
from fencepost.conversations.rows.messages import (
    MessageRows,
    block_row,
    message_row,
    message_sort,
    pointer_row,
    rating_sort,
    read_conversation,
)
from fencepost.conversations.rows.models import ConversationRow, MessageRow, RatingRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.expressions import all_of
from fencepost.kernel.aws.rows import to_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.lifecycle.dynamodb.erasure_scan import ErasureScan
from fencepost.lifecycle.dynamodb.removal import Removal
from fencepost.lifecycle.ports import ArchiveStore
from fencepost.memory.rows import summary_row
from fencepost.model.domain import Role
from fencepost.queue.domain import Purpose
from fencepost.queue.rows import work_row


class DynamoDbArchive(ArchiveStore):
    """Moves messages between the conversations' table and S3.

    Args:
        table: name of the conversations' table.
        blobs: store of the blocks.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)
        self._blobs = blobs
        self._rows = MessageRows(blobs)
        self._archived = ArchivedMessages(table, blobs, client)
        self._scan = ErasureScan(table, blobs, client)
        self._removal = Removal(table, client)

    @override
    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        item = self._table.get(keys.conversation_row(scope, conversation_id))
        return read_conversation(item) if item else None

    @override
    def rows(self, scope: Scope, conversation_id: str, *, after: int, limit: int) -> tuple[Message, ...]:
        partition = MessageRow.pk == keys.conversation(scope, conversation_id)
        # `$` follows `#`.
        later = MessageRow.sk.between(message_sort(after + 1), "m$")
        return tuple(self._rows.message(scope, item) for item in self._table.query(partition & later, limit=limit))

    @override
    def blocks(self, scope: Scope, conversation_id: str) -> tuple[ArchiveBlock, ...]:
        return self._archived.blocks(scope, conversation_id)

    @override
    def read(self, scope: Scope, block: ArchiveBlock) -> tuple[Message, ...]:
        return self._archived.block_messages(scope, block)

    @override
    def move(self, scope: Scope, conversation: Conversation, block: ArchiveBlock, messages: Sequence[Message]) -> bool:
        archived = self._table.update_write(
            keys.conversation_row(scope, conversation.id),
            ConversationRow.archived_through.set(block.last_seq),
            condition=_is_archived_through(conversation, block.first_seq - 1),
        )
        stored = self._table.put_write(to_item(block) | block_row(scope, conversation.id, block.first_seq))
        removed = {
            f"m{message.seq}": self._table.delete_write(
                message_row(scope, conversation.id, message.seq), condition=_is_unchanged(message)
            )
            for message in messages
        }
        return self._table.transact_with_retry({"conversation": archived, "block": stored, **removed}) is None

    @override
    def keep_from(self, scope: Scope, conversation: Conversation, seq: int) -> bool:
        """Store the new bound. Rows below `seq` count as archived, so that none of them is moved into a block."""
        kept = self._table.update_write(
            keys.conversation_row(scope, conversation.id),
            ConversationRow.kept_from.set(seq),
            ConversationRow.archived_through.set(max(conversation.archived_through, seq - 1)),
            ConversationRow.summarised_through.set(0),
            condition=_is_archived_through(conversation, conversation.archived_through),
        )
        return self._table.transact_with_retry({"conversation": kept}) is None

    @override
    def drop_rows(self, scope: Scope, conversation_id: str, messages: Sequence[Message]) -> None:
        rows = [message_row(scope, conversation_id, message.seq) for message in messages]
        pointers = [pointer_row(scope, message.id) for message in messages if message.role is Role.USER]
        self._table.batch_write(deletes=[*rows, *pointers])

    @override
    def drop_block(self, scope: Scope, conversation_id: str, block: ArchiveBlock) -> None:
        """Remove the ratings first: they are found by the block's range."""
        partition = RatingRow.pk == keys.conversation(scope, conversation_id)
        in_block = RatingRow.sk.between(rating_sort(block.first_seq), rating_sort(block.last_seq))
        ratings = self._table.query(partition & in_block, RatingRow.pk, RatingRow.sk)
        self._table.batch_write(deletes=map(RatingRow.key_of, ratings))
        self._table.batch_write(deletes=[block_row(scope, conversation_id, block.first_seq)])

    @override
    def drop_files(self, scope: Scope, conversation_id: str) -> None:
        """Remove the rows first, so that a file whose objects are removed cannot be attached any more."""
        self._removal.remove_unused(list(self._scan.files(scope, conversation_id, is_over=True)))
        for prefix in self._scan.orphaned_objects(scope, objects.FILES):
            self._blobs.delete(scope, prefix)

    @override
    def end(self, scope: Scope, conversation: Conversation) -> bool:
        """Remove the rows if nothing was asked or answered in the conversation since it was read."""
        turn = conversation.open_turn
        unchanged = all_of(
            ConversationRow.incarnation == conversation.incarnation,
            ConversationRow.next_seq == conversation.next_seq,
            ConversationRow.updated_at == conversation.updated_at,
            ConversationRow.open_turn_holder == turn.holder if turn else ConversationRow.open_turn.does_not_exist(),
        )
        removed = self._table.delete_write(keys.conversation_row(scope, conversation.id), condition=unchanged)
        leases = [work_row(scope, conversation.id, purpose) for purpose in Purpose]
        others = {
            row["sk"]["S"]: self._table.delete_write(row) for row in [*leases, summary_row(scope, conversation.id)]
        }
        return self._table.transact_with_retry({"conversation": removed, **others}) is None


def _is_archived_through(conversation: Conversation, seq: int) -> Condition:
    """Return the condition that it still is this conversation, and archived through this number."""
    return all_of(ConversationRow.incarnation == conversation.incarnation, ConversationRow.archived_through == seq)


def _is_unchanged(message: Message) -> Condition:
    """Return the condition that a message was not rated, answered or superseded since it was read."""
    rating = MessageRow.rating == message.rating if message.rating else MessageRow.rating.does_not_exist()
    return all_of(MessageRow.status == message.status, rating)
