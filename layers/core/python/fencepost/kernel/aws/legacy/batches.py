"""Rows written and removed in batches, and read from several partitions at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import batched
from typing import TYPE_CHECKING, Final

from fencepost.kernel.aws.keys import Key
from fencepost.kernel.aws.legacy.client import CONFLICT_PAUSES, Item, store_errors
from fencepost.kernel.aws.legacy.reading import READ_AT_ONCE, batch_rows
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, WriteRequestTypeDef

_WRITTEN_AT_ONCE: Final = 25
"""DynamoDB's own limit of `BatchWriteItem`."""
_READS_AT_ONCE: Final = 8


def put_rows(client: DynamoDBClient, table: str, rows: Iterable[dict[str, AttributeValueTypeDef]]) -> None:
    """Store rows in place of those under their keys.

    Raises:
        FencepostError: `conversations_unavailable`; some may have been stored.
    """
    for some in batched(rows, _WRITTEN_AT_ONCE, strict=False):
        _write(client, table, [{"PutRequest": {"Item": row}} for row in some])


def delete_rows(client: DynamoDBClient, table: str, rows: Iterable[Key]) -> None:
    """Remove rows, whether they are there or not.

    Raises:
        FencepostError: as `put_rows`.
    """
    for some in batched(rows, _WRITTEN_AT_ONCE, strict=False):
        _write(client, table, [{"DeleteRequest": {"Key": row}} for row in some])


def read_rows(client: DynamoDBClient, table: str, rows: Sequence[Key]) -> list[Item]:
    """Return those of the rows that there are, in any order: all batches at once.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    some = list(batched(rows, READ_AT_ONCE, strict=False))
    if len(some) <= 1:
        return [item for batch in some for item in batch_rows(client, table, batch)]
    with ThreadPoolExecutor(min(len(some), _READS_AT_ONCE)) as pool:
        found = pool.map(lambda batch: list(batch_rows(client, table, batch)), some)
        return [item for batch in found for item in batch]


def _write(
    client: DynamoDBClient,
    table: str,
    requests: Sequence[WriteRequestTypeDef],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    for seconds in CONFLICT_PAUSES:
        try:
            left = client.batch_write_item(RequestItems={table: requests}).get("UnprocessedItems", {}).get(table, [])
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        if not left:
            return
        # What the store had no room for: it asks to be given a moment. What comes back can be sent as it is.
        requests = left  # type: ignore[assignment]  # the stubs tell requests and their echo apart
        pause(seconds)
    raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
