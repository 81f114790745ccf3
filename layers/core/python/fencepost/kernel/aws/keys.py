"""Primary keys as DynamoDB takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef


type Key = dict[str, AttributeValueTypeDef]


def key(partition: str, sort: str) -> Key:
    """Return a row's key as DynamoDB takes it."""
    return {"pk": {"S": partition}, "sk": {"S": sort}}
