"""Reads of single rows and of runs of rows, always consistent: what somebody wrote, they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import Item, number, store_errors
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, QueryInputTypeDef, QueryOutputTypeDef


READ_AT_ONCE: Final = 100
"""DynamoDB's own limit of `BatchGetItem`."""
EXPIRES_AT: Final = "expires_at"
"""The table's TTL attribute: seconds since 1970."""


def utc_now() -> datetime:
    """Return now: the clock of stores that are given none."""
    return datetime.now(UTC)


def is_past(item: Item, now: datetime) -> bool:
    """Tell whether a row's time is over: DynamoDB removes it within days, and until then nobody is to see it."""
    return EXPIRES_AT in item and number(item, EXPIRES_AT) <= now.timestamp()


def get_row(client: DynamoDBClient, table: str, key: aws_keys.Key) -> Item | None:
    """Return one row.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    try:
        return client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item")
    except store_errors():
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None


def batch_rows(client: DynamoDBClient, table: str, rows: Sequence[aws_keys.Key]) -> Iterator[Item]:
    """Yield those of the rows that there are, in any order; of `READ_AT_ONCE` at most.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    wanted: Sequence[Mapping[str, AttributeValueTypeDef]] = rows
    while wanted:
        try:
            answer = client.batch_get_item(RequestItems={table: {"Keys": wanted, "ConsistentRead": True}})
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        found, left = answer["Responses"].get(table, []), answer.get("UnprocessedKeys", {})
        wanted = left[table]["Keys"] if left else []
        if wanted and not found:
            # More than one answer holds comes in several; none at all means that the store has had enough.
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        yield from found


def query_pages(client: DynamoDBClient, request: QueryInputTypeDef) -> Iterator[QueryOutputTypeDef]:
    """Yield a query's pages as they are asked for.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    start: QueryInputTypeDef = {"ConsistentRead": True, **request}
    while True:
        try:
            page = client.query(**start)
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        yield page
        if "LastEvaluatedKey" not in page:
            return
        start = {**start, "ExclusiveStartKey": page["LastEvaluatedKey"]}
