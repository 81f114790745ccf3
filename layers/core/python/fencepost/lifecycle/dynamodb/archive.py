"""Old messages in blocks: read where they are, and moved there from their rows.

A block's row is stored, and the rows of its messages are removed, in one transaction. So a message is always in exactly
one of the two places, and whoever reads rows first and blocks after them misses none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import batched
from typing import TYPE_CHECKING, override

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import ArchiveBlock
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.archived import ArchivedMessages, items_between
from fencepost.conversations.rows.messages import MessageRows, read_conversation
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import ClientFactory, dynamodb_client, store_errors
from fencepost.kernel.aws.legacy.reading import get_row
from fencepost.kernel.aws.legacy.rows import attribute, timestamp, to_item
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.dynamodb.erasure_scan import ErasureScan
from fencepost.lifecycle.dynamodb.removal import Removal
from fencepost.lifecycle.ports import ArchiveStore
from fencepost.memory import rows as memory_keys
from fencepost.model.domain import Role
from fencepost.queue import rows as queue_rows
from fencepost.queue.domain import Purpose

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        TransactWriteItemTypeDef,
        UpdateTypeDef,
        WriteRequestTypeDef,
    )


_WRITTEN_AT_ONCE = 25  # DynamoDB's own limit of `BatchWriteItem`.


class DynamoDbArchive(ArchiveStore):
    """Implements `fencepost.lifecycle.ports.ArchiveStore`, and reads for `ConversationStore.messages`.

    Args:
        table: name of the conversations' table.
        blobs: where the blocks are.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client) -> None:
        self._table = table
        self._blobs = blobs
        self._rows = MessageRows(blobs)
        self._client = client
        self._archived = ArchivedMessages(table, blobs, client)

    @override
    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        item = get_row(self._client(), self._table, keys.conversation_row(scope, conversation_id))
        return read_conversation(item) if item else None

    @override
    def rows(self, scope: Scope, conversation_id: str, *, after: int, limit: int) -> tuple[Message, ...]:
        # `$` follows `#`.
        low, high = conversations_keys.message_sort(after + 1), "m$"
        found = items_between(
            self._client(), self._table, keys.conversation(scope, conversation_id), low, high, limit=limit
        )
        return tuple(self._rows.message(scope, item) for item in found)

    @override
    def blocks(self, scope: Scope, conversation_id: str) -> tuple[ArchiveBlock, ...]:
        return self._archived.blocks(scope, conversation_id)

    @override
    def read(self, scope: Scope, block: ArchiveBlock) -> tuple[Message, ...]:
        return self._archived.block_messages(scope, block)

    @override
    def move(self, scope: Scope, conversation: Conversation, block: ArchiveBlock, messages: Sequence[Message]) -> bool:
        item = to_item(block) | conversations_keys.block_row(scope, conversation.id, block.first_seq)
        actions: dict[str, TransactWriteItemTypeDef] = {
            "conversation": {"Update": _archived(self._table, scope, conversation, block)},
            "block": {"Put": {"TableName": self._table, "Item": item}},
        }
        return self._transact(actions | {f"m{one.seq}": self._removed(scope, conversation.id, one) for one in messages})

    @override
    def keep_from(self, scope: Scope, conversation: Conversation, seq: int) -> bool:
        """Rows below `seq` count as archived: none of them is to be moved."""
        archived = max(conversation.archived_through, seq - 1)
        update: UpdateTypeDef = {
            "TableName": self._table,
            "Key": keys.conversation_row(scope, conversation.id),
            "UpdateExpression": "SET kept_from = :seq, archived_through = :archived, summarised_through = :none",
            "ConditionExpression": "incarnation = :incarnation AND archived_through = :before",
            "ExpressionAttributeValues": {
                ":seq": {"N": str(seq)},
                ":none": {"N": "0"},
                ":archived": {"N": str(archived)},
                ":before": {"N": str(conversation.archived_through)},
                ":incarnation": {"S": conversation.incarnation},
            },
        }
        return self._transact({"conversation": {"Update": update}})

    @override
    def drop_rows(self, scope: Scope, conversation_id: str, messages: Sequence[Message]) -> None:
        asked = [message for message in messages if message.role is Role.USER]
        self._delete(
            [conversations_keys.message_row(scope, conversation_id, message.seq) for message in messages]
            + [conversations_keys.pointer_row(scope, message.id) for message in asked]
        )

    @override
    def drop_block(self, scope: Scope, conversation_id: str, block: ArchiveBlock) -> None:
        first, last = conversations_keys.rating_sort(block.first_seq), conversations_keys.rating_sort(block.last_seq)
        self._delete(
            [
                aws_keys.key(row["pk"]["S"], row["sk"]["S"])
                for row in items_between(
                    self._client(), self._table, keys.conversation(scope, conversation_id), first, last
                )
            ]
        )
        self._delete([conversations_keys.block_row(scope, conversation_id, block.first_seq)])

    @override
    def drop_files(self, scope: Scope, conversation_id: str) -> None:
        """Rows go first: whoever attaches a file finds that it is gone."""
        remains = ErasureScan(self._table, self._blobs, self._client)
        Removal(self._table, self._client).remove_unused(list(remains.files(scope, conversation_id, is_over=True)))
        for prefix in remains.strays(scope, objects.FILES):
            self._blobs.delete(scope, prefix)

    @override
    def end(self, scope: Scope, conversation: Conversation) -> bool:
        work = [queue_rows.work_row(scope, conversation.id, purpose) for purpose in Purpose]
        deletions: dict[str, TransactWriteItemTypeDef] = {
            row["sk"]["S"]: {"Delete": {"TableName": self._table, "Key": row}}
            for row in [*work, memory_keys.summary_row(scope, conversation.id)]
        }
        return self._transact({"conversation": _ended(self._table, scope, conversation), **deletions})

    def _removed(self, scope: Scope, conversation_id: str, message: Message) -> TransactWriteItemTypeDef:
        """Return the removal of a row that nobody has rated, answered or superseded since it was read."""
        values: dict[str, AttributeValueTypeDef] = {":status": {"S": message.status}}
        rated = "attribute_not_exists(rating)"
        if message.rating:
            values[":rating"], rated = {"S": message.rating}, "rating = :rating"
        return {
            "Delete": {
                "TableName": self._table,
                "Key": conversations_keys.message_row(scope, conversation_id, message.seq),
                "ConditionExpression": f"#status = :status AND {rated}",
                "ExpressionAttributeNames": {"#status": "status"},
                "ExpressionAttributeValues": values,
            }
        }

    def _transact(self, actions: Mapping[str, TransactWriteItemTypeDef]) -> bool:
        return transact_with_retry(self._client(), actions) is None

    def _delete(self, rows: Sequence[aws_keys.Key]) -> None:
        for some in batched(rows, _WRITTEN_AT_ONCE, strict=False):
            left: list[WriteRequestTypeDef] = [{"DeleteRequest": {"Key": row}} for row in some]
            while left:
                left = self._write(left)

    def _write(self, requests: list[WriteRequestTypeDef]) -> list[WriteRequestTypeDef]:
        try:
            answer = self._client().batch_write_item(RequestItems={self._table: requests})
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        left = answer["UnprocessedItems"].get(self._table, [])
        return [{"DeleteRequest": {"Key": request["DeleteRequest"]["Key"]}} for request in left]


def _archived(table: str, scope: Scope, conversation: Conversation, block: ArchiveBlock) -> UpdateTypeDef:
    return {
        "TableName": table,
        "Key": keys.conversation_row(scope, conversation.id),
        "UpdateExpression": "SET archived_through = :last",
        "ConditionExpression": "incarnation = :incarnation AND archived_through = :before",
        "ExpressionAttributeValues": {
            ":last": {"N": str(block.last_seq)},
            ":before": {"N": str(block.first_seq - 1)},
            ":incarnation": {"S": conversation.incarnation},
        },
    }


def _ended(table: str, scope: Scope, conversation: Conversation) -> TransactWriteItemTypeDef:
    """Return the removal of a conversation in which nothing was asked or answered since it was read."""
    turn = conversation.open_turn
    values = {
        ":incarnation": attribute(conversation.incarnation),
        ":next": attribute(conversation.next_seq),
        ":updated": attribute(timestamp(conversation.updated_at)),
    }
    same = "incarnation = :incarnation AND next_seq = :next AND updated_at = :updated"
    idle = "attribute_not_exists(open_turn)"
    if turn:
        values[":holder"], idle = attribute(turn.holder), "open_turn.holder = :holder"
    return {
        "Delete": {
            "TableName": table,
            "Key": keys.conversation_row(scope, conversation.id),
            "ConditionExpression": f"{same} AND {idle}",
            "ExpressionAttributeValues": values,
        }
    }
