"""Reading archived messages out of blocks in S3."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import ArchiveBlock, DamagedBlock, unpack
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import ClientFactory, Item, dynamodb_client, store_errors
from fencepost.kernel.aws.legacy.rows import from_item
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import QueryInputPaginateTypeDef


class ArchivedMessages:
    """Reads messages out of blocks.

    Args:
        table: name of the conversations' table.
        blobs: where the blocks are.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client) -> None:
        self._table = table
        self._blobs = blobs
        self._client = client

    def blocks(self, scope: Scope, conversation_id: str) -> tuple[ArchiveBlock, ...]:
        """Return the blocks of a conversation, oldest first."""
        partition = keys.conversation(scope, conversation_id)
        items = items_between(self._client(), self._table, partition, "block#", "block$")
        return tuple(from_item(ArchiveBlock, item) for item in items)

    def block_messages(self, scope: Scope, block: ArchiveBlock) -> tuple[Message, ...]:
        """Return the messages of a block, checked against its digest.

        Raises:
            FencepostError: `conversations_unavailable`; the block cannot be read, or is not what was stored.
        """
        content = self._blobs.get(scope, block.object)
        try:
            return unpack(block, content or b"")
        except DamagedBlock:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None

    def read(
        self, scope: Scope, conversation: Conversation, *, after: int | None, limit: int, newest_first: bool
    ) -> tuple[Message, ...]:
        """Return archived messages in either direction from a `seq` that is left out itself.

        Ask after rows were read: what moved in between stands in both answers then, and never in neither.

        Raises:
            FencepostError: `conversations_unavailable`; a block cannot be read, or is not what was stored.
        """
        found: list[Message] = []
        blocks = self.blocks(scope, conversation.id)
        for block in reversed(blocks) if newest_first else blocks:
            if len(found) < limit and _reaches(block, conversation.kept_from, after, newest_first=newest_first):
                found += self._wanted(scope, block, conversation.kept_from, after, newest_first=newest_first)
        return tuple(found[:limit])

    def _wanted(
        self, scope: Scope, block: ArchiveBlock, kept_from: int, after: int | None, *, newest_first: bool
    ) -> list[Message]:
        messages = [message for message in self.block_messages(scope, block) if message.seq >= kept_from]
        if newest_first:
            return [message for message in reversed(messages) if after is None or message.seq < after]
        return [message for message in messages if message.seq > (after or 0)]


def _reaches(block: ArchiveBlock, kept_from: int, after: int | None, *, newest_first: bool) -> bool:
    if block.last_seq < kept_from:
        return False
    if after is None:
        return True
    return block.first_seq < after if newest_first else block.last_seq > after


def items_between(
    client: DynamoDBClient, table: str, partition: str, low: str, high: str, *, limit: int | None = None
) -> list[Item]:
    """Return the items of a partition whose sort keys lie between two bounds, both included.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    request = _between(table, partition, low, high)
    try:
        pages = client.get_paginator("query").paginate(**request)
        return list(islice((item for page in pages for item in page["Items"]), limit))
    except store_errors():
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None


def _between(table: str, partition: str, low: str, high: str) -> QueryInputPaginateTypeDef:
    return {
        "TableName": table,
        "ConsistentRead": True,
        "KeyConditionExpression": "pk = :pk AND sk BETWEEN :low AND :high",
        "ExpressionAttributeValues": {":pk": {"S": partition}, ":low": {"S": low}, ":high": {"S": high}},
    }
