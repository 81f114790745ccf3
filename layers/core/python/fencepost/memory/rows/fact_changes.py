"""The count of an owner's changes of facts: what was decided from facts is stored while they are what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import number
from fencepost.kernel.aws.legacy.reading import get_row
from fencepost.kernel.aws.legacy.rows import attribute
from fencepost.memory.rows import keys as memory_keys

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


def changes(client: DynamoDBClient, table: str, scope: Scope) -> int:
    """Return the count as it is. Facts are read after it.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    return number(get_row(client, table, memory_keys.facts_row(scope)) or {}, "changes")


def one_more(table: str, scope: Scope, before: int) -> TransactWriteItemTypeDef:
    """Return the write that counts one up, on condition that nobody else has since."""
    values = {":next": attribute(before + 1), **({":before": attribute(before)} if before else {})}
    return {
        "Update": {
            "TableName": table,
            "Key": memory_keys.facts_row(scope),
            "UpdateExpression": "SET changes = :next",
            "ConditionExpression": "changes = :before" if before else "attribute_not_exists(pk)",
            "ExpressionAttributeValues": values,
        }
    }
