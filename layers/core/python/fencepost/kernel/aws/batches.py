"""Batches of reads and writes, with the items that DynamoDB leaves unprocessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import ClientError

from fencepost.kernel.aws.calls import THROTTLED, Calls
from fencepost.kernel.aws.rows import Item

READ_AT_ONCE: Final = 100
"""DynamoDB's limit of `BatchGetItem`."""
WRITTEN_AT_ONCE: Final = 25
"""DynamoDB's limit of `BatchWriteItem`."""


def read_batch(calls: Calls, wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Item]]:
    """Return the rows that there are, by table and in any order.

    Args:
        calls: sends the requests.
        wanted: by table, keys and projection as `BatchGetItem` takes them; `READ_AT_ONCE` keys at most.

    Raises:
        FencepostError: something is unprocessed at the deadline.
    """
    found: dict[str, list[Item]] = {table: [] for table in wanted}
    for attempt in calls.retries.attempts():
        try:
            answer = calls.once("batch_get_item", wanted, {"RequestItems": wanted}, THROTTLED, attempt)
        except ClientError:
            continue
        for table, items in answer["Responses"].items():
            found[table] += items
        # What did not fit into one answer, or was throttled.
        wanted = answer.get("UnprocessedKeys", {})
        if not wanted:
            return found
    raise calls.failed()


def write_batch(calls: Calls, table: str, requests: Sequence[Mapping[str, Any]]) -> None:
    """Put and delete rows, `WRITTEN_AT_ONCE` at most.

    Raises:
        FencepostError: something is unprocessed at the deadline; the rest has been written.
    """
    for attempt in calls.retries.attempts():
        try:
            answer = calls.once("batch_write_item", [table], {"RequestItems": {table: requests}}, THROTTLED, attempt)
        except ClientError:
            continue
        requests = answer.get("UnprocessedItems", {}).get(table, [])
        if not requests:
            return
    raise calls.failed()
