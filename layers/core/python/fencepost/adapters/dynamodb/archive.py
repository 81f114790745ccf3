"""Old messages in blocks: read where they are, and moved there from their rows.

A block's row is stored, and the rows of its messages are removed, in one transaction. So a message is always in exactly
one of the two places, and whoever reads rows first and blocks after them misses none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import batched, islice
from typing import TYPE_CHECKING

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.client import ClientFactory, Item, dynamodb_client, store_errors
from fencepost.adapters.dynamodb.conversation_rows import read_conversation
from fencepost.adapters.dynamodb.message_rows import MessageRows
from fencepost.adapters.dynamodb.reading import get_row
from fencepost.adapters.dynamodb.remains import Remains
from fencepost.adapters.dynamodb.removal import Removal
from fencepost.adapters.dynamodb.rows import attribute, from_item, timestamp, to_item
from fencepost.adapters.dynamodb.transactions import transact_surely
from fencepost.domain import objects
from fencepost.domain.archives import Block, DamagedBlock, unpack
from fencepost.domain.conversation import Role
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.jobs import Purpose
from fencepost.domain.messages import Conversation, Message
from fencepost.ports import BlobStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        QueryInputPaginateTypeDef,
        TransactWriteItemTypeDef,
        UpdateTypeDef,
        WriteRequestTypeDef,
    )

_WRITTEN_AT_ONCE = 25  # DynamoDB's own limit of `BatchWriteItem`.


class DynamoDbArchive:
    """Implements `fencepost.ports.ArchiveStore`, and reads for `ConversationStore.messages`.

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

    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """See `fencepost.ports.ArchiveStore`."""
        item = get_row(self._client(), self._table, keys.conversation_row(scope, conversation_id))
        return read_conversation(item) if item else None

    def rows(self, scope: Scope, conversation_id: str, *, after: int, limit: int) -> tuple[Message, ...]:
        """See `fencepost.ports.ArchiveStore`."""
        found = self._query(scope, conversation_id, keys.message_sort(after + 1), "m$", limit)  # `$` follows `#`.
        return tuple(self._rows.message(scope, item) for item in found)

    def blocks(self, scope: Scope, conversation_id: str) -> tuple[Block, ...]:
        """See `fencepost.ports.ArchiveStore`."""
        return tuple(from_item(Block, item) for item in self._query(scope, conversation_id, "block#", "block$"))

    def read(self, scope: Scope, block: Block) -> tuple[Message, ...]:
        """See `fencepost.ports.ArchiveStore`."""
        content = self._blobs.get(scope, block.object)
        try:
            return unpack(block, content or b"")
        except DamagedBlock:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None

    def move(self, scope: Scope, conversation: Conversation, block: Block, messages: Sequence[Message]) -> bool:
        """See `fencepost.ports.ArchiveStore`."""
        item = to_item(block) | keys.block_row(scope, conversation.id, block.first_seq)
        actions: dict[str, TransactWriteItemTypeDef] = {
            "conversation": {"Update": _archived(self._table, scope, conversation, block)},
            "block": {"Put": {"TableName": self._table, "Item": item}},
        }
        return self._transact(actions | {f"m{one.seq}": self._removed(scope, conversation.id, one) for one in messages})

    def keep_from(self, scope: Scope, conversation: Conversation, seq: int) -> bool:
        """See `fencepost.ports.ArchiveStore`. Rows below `seq` count as archived: none of them is to be moved."""
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

    def drop_rows(self, scope: Scope, conversation_id: str, messages: Sequence[Message]) -> None:
        """See `fencepost.ports.ArchiveStore`."""
        asked = [message for message in messages if message.role is Role.USER]
        self._delete(
            [keys.message_row(scope, conversation_id, message.seq) for message in messages]
            + [keys.pointer_row(scope, message.id) for message in asked]
        )

    def drop_block(self, scope: Scope, conversation_id: str, block: Block) -> None:
        """See `fencepost.ports.ArchiveStore`."""
        first, last = keys.rating_sort(block.first_seq), keys.rating_sort(block.last_seq)
        self._delete(
            [keys.key(row["pk"]["S"], row["sk"]["S"]) for row in self._query(scope, conversation_id, first, last)]
        )
        self._delete([keys.block_row(scope, conversation_id, block.first_seq)])

    def drop_files(self, scope: Scope, conversation_id: str) -> None:
        """See `fencepost.ports.ArchiveStore`. Rows go first: whoever attaches a file finds that it is gone."""
        remains = Remains(self._table, self._blobs, self._client)
        Removal(self._table, self._client).remove_unused(list(remains.files(scope, conversation_id, is_over=True)))
        for prefix in remains.strays(scope, objects.FILES):
            self._blobs.delete(scope, prefix)

    def end(self, scope: Scope, conversation: Conversation) -> bool:
        """See `fencepost.ports.ArchiveStore`."""
        work = [keys.work_row(scope, conversation.id, purpose) for purpose in Purpose]
        deletions: dict[str, TransactWriteItemTypeDef] = {
            row["sk"]["S"]: {"Delete": {"TableName": self._table, "Key": row}}
            for row in [*work, keys.summary_row(scope, conversation.id)]
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
                "Key": keys.message_row(scope, conversation_id, message.seq),
                "ConditionExpression": f"#status = :status AND {rated}",
                "ExpressionAttributeNames": {"#status": "status"},
                "ExpressionAttributeValues": values,
            }
        }

    def _transact(self, actions: Mapping[str, TransactWriteItemTypeDef]) -> bool:
        return transact_surely(self._client(), actions) is None

    def _delete(self, rows: Sequence[keys.Key]) -> None:
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

    def _query(self, scope: Scope, conversation_id: str, low: str, high: str, limit: int | None = None) -> list[Item]:
        request = _between(self._table, keys.conversation(scope, conversation_id), low, high)
        try:
            pages = self._client().get_paginator("query").paginate(**request)
            return list(islice((item for page in pages for item in page["Items"]), limit))
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None


class ArchivedMessages:
    """Reads messages out of blocks.

    Args:
        table: name of the conversations' table.
        blobs: where the blocks are.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client) -> None:
        self._archive = DynamoDbArchive(table, blobs, client)

    def read(
        self, scope: Scope, conversation: Conversation, *, after: int | None, limit: int, newest_first: bool
    ) -> tuple[Message, ...]:
        """Return archived messages in either direction from a `seq` that is left out itself.

        Ask after rows were read: what moved in between stands in both answers then, and never in neither.

        Raises:
            FencepostError: `conversations_unavailable`; a block cannot be read, or is not what was stored.
        """
        found: list[Message] = []
        blocks = self._archive.blocks(scope, conversation.id)
        for block in reversed(blocks) if newest_first else blocks:
            if len(found) < limit and _reaches(block, conversation.kept_from, after, newest_first=newest_first):
                found += self._wanted(scope, block, conversation.kept_from, after, newest_first=newest_first)
        return tuple(found[:limit])

    def _wanted(
        self, scope: Scope, block: Block, kept_from: int, after: int | None, *, newest_first: bool
    ) -> list[Message]:
        messages = [message for message in self._archive.read(scope, block) if message.seq >= kept_from]
        if newest_first:
            return [message for message in reversed(messages) if after is None or message.seq < after]
        return [message for message in messages if message.seq > (after or 0)]


def _reaches(block: Block, kept_from: int, after: int | None, *, newest_first: bool) -> bool:
    if block.last_seq < kept_from:
        return False
    if after is None:
        return True
    return block.first_seq < after if newest_first else block.last_seq > after


def _archived(table: str, scope: Scope, conversation: Conversation, block: Block) -> UpdateTypeDef:
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


def _between(table: str, partition: str, low: str, high: str) -> QueryInputPaginateTypeDef:
    return {
        "TableName": table,
        "ConsistentRead": True,
        "KeyConditionExpression": "pk = :pk AND sk BETWEEN :low AND :high",
        "ExpressionAttributeValues": {":pk": {"S": partition}, ":low": {"S": low}, ":high": {"S": high}},
    }
