"""Which conversations may have parts in the vector index, through a sparse index of the conversations' table."""

from __future__ import annotations

from typing import TYPE_CHECKING, override

from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import OneTable
from fencepost.kernel.aws.legacy.reading import query_pages
from fencepost.kernel.aws.legacy.rows import attribute
from fencepost.kernel.paging import Page
from fencepost.memory.ports import RememberedConversations
from fencepost.queue.domain import Purpose

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef


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
