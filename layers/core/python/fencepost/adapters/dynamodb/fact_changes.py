"""The count of an owner's changes of facts: what was decided from facts is stored while they are what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.client import number
from fencepost.adapters.dynamodb.reading import get_row
from fencepost.adapters.dynamodb.rows import attribute
from fencepost.domain.identity import Scope

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


def changes(client: DynamoDBClient, table: str, scope: Scope) -> int:
    """Return the count as it is. Facts are read after it.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    return number(get_row(client, table, keys.facts_row(scope)) or {}, "changes")


def one_more(table: str, scope: Scope, before: int) -> TransactWriteItemTypeDef:
    """Return the write that counts one up, on condition that nobody else has since."""
    values = {":next": attribute(before + 1), **({":before": attribute(before)} if before else {})}
    return {
        "Update": {
            "TableName": table,
            "Key": keys.facts_row(scope),
            "UpdateExpression": "SET changes = :next",
            "ConditionExpression": "changes = :before" if before else "attribute_not_exists(pk)",
            "ExpressionAttributeValues": values,
        }
    }
