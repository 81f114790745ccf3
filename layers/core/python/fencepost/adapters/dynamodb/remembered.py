"""Which conversations may have parts in the vector index, through a sparse index of the conversations' table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.client import OneTable
from fencepost.adapters.dynamodb.reading import query_pages
from fencepost.adapters.dynamodb.rows import attribute
from fencepost.domain.identity import Scope
from fencepost.domain.jobs import Purpose
from fencepost.ports import Page

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef


class DynamoDbRememberedConversations(OneTable):
    """Implements `fencepost.ports.RememberedConversations` in the conversations' table.

    What it tells may be seconds old.
    """

    def conversations(self, scope: Scope, *, after: str | None, limit: int) -> Page[tuple[str, str]]:
        """See `fencepost.ports.RememberedConversations`."""
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
            start = keys.key(after, f"work#{Purpose.REMEMBER}")
            request["ExclusiveStartKey"] = {**start, keys.REMEMBERED: attribute(keys.organisation(scope.org))}
        page = next(query_pages(self._client(), request))
        last = page.get("LastEvaluatedKey", {}).get("pk", {}).get("S")
        return Page(tuple(keys.conversation_of(item["pk"]["S"]) for item in page["Items"]), last)
