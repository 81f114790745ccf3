"""What the index holds of a conversation's messages: rows beside these, bound to the conversation that they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import batched
from typing import TYPE_CHECKING, Final, override

from fencepost.conversations.domain.messages import Conversation
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.batches import delete_rows
from fencepost.kernel.aws.legacy.client import OneTable
from fencepost.kernel.aws.legacy.reading import query_pages
from fencepost.kernel.aws.legacy.rows import attribute
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.paging import Page
from fencepost.memory import rows as memory_keys
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.memory.ports import MessageChunkStore, RememberedConversations
from fencepost.memory.rows import part_item, read_part
from fencepost.queue.domain import Purpose

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef, TransactWriteItemTypeDef


ROWS_AT_ONCE: Final = 99
"""With the conversation's row: DynamoDB's own limit of a transaction is 100."""


class DynamoDbMessageChunks(OneTable, MessageChunkStore):
    """Implements `fencepost.memory.ports.MessageChunkStore` in the conversations' table."""

    @override
    def parts(
        self, scope: Scope, conversation_id: str, *, first: int = 1, last: int | None = None
    ) -> tuple[MessageChunkRow, ...]:
        through = memory_keys.PARTS if last is None else memory_keys.part_sort(last)
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": {
                ":pk": {"S": keys.conversation(scope, conversation_id)},
                ":first": {"S": memory_keys.part_sort(first)},
                ":last": {"S": f"{through.removesuffix('#')}$"},  # `$` follows `#`.
            },
        }
        return tuple(read_part(item) for page in query_pages(self._client(), request) for item in page["Items"])

    @override
    def put_parts(self, scope: Scope, conversation: Conversation, rows: Sequence[MessageChunkRow]) -> bool:
        """Up to `ROWS_AT_ONCE` are written together or not at all."""
        return all(
            transact_with_retry(self._client(), self._writes(scope, conversation, some)) is None
            for some in batched(rows, ROWS_AT_ONCE, strict=False)
        )

    @override
    def drop_parts(self, scope: Scope, conversation_id: str, rows: Sequence[MessageChunkRow]) -> None:
        gone = [memory_keys.part_row(scope, conversation_id, row.seq, row.number) for row in rows]
        delete_rows(self._client(), self._table, gone)

    def _writes(
        self, scope: Scope, conversation: Conversation, rows: Sequence[MessageChunkRow]
    ) -> Mapping[str, TransactWriteItemTypeDef]:
        writes: dict[str, TransactWriteItemTypeDef] = {
            row.chunk: {"Put": {"TableName": self._table, "Item": part_item(scope, conversation.id, row)}}
            for row in rows
        }
        return {"conversation": self._kept(scope, conversation, min(row.seq for row in rows)), **writes}

    def _kept(self, scope: Scope, conversation: Conversation, seq: int) -> TransactWriteItemTypeDef:
        """Return the condition that it is the same conversation, and retention has not reached a message in it."""
        return {
            "ConditionCheck": {
                "TableName": self._table,
                "Key": keys.conversation_row(scope, conversation.id),
                "ConditionExpression": "incarnation = :incarnation AND kept_from <= :seq",
                "ExpressionAttributeValues": {
                    ":incarnation": attribute(conversation.incarnation),
                    ":seq": attribute(seq),
                },
            }
        }


class DynamoDbRememberedConversations(OneTable, RememberedConversations):
    """Implements `fencepost.memory.ports.RememberedConversations` in the conversations' table.

    What it tells may be seconds old.
    """

    @override
    def conversations(self, scope: Scope, *, after: str | None, limit: int) -> Page[tuple[str, str]]:
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "IndexName": keys.REMEMBERED,
            # A global index is never consistent.
            "ConsistentRead": False,
            "KeyConditionExpression": f"{keys.REMEMBERED} = :org",
            "ExpressionAttributeValues": {":org": attribute(keys.organisation(scope.org))},
            "Limit": limit,
        }
        if after is not None:
            start = aws_keys.key(after, f"work#{Purpose.REMEMBER}")
            request["ExclusiveStartKey"] = {**start, keys.REMEMBERED: attribute(keys.organisation(scope.org))}
        page = next(query_pages(self._client(), request))
        last = page.get("LastEvaluatedKey", {}).get("pk", {}).get("S")
        return Page(tuple(keys.conversation_of(item["pk"]["S"]) for item in page["Items"]), last)
