"""Read and write batches of rows, including the items that DynamoDB leaves unprocessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import ClientError

from fencepost.kernel.aws.calls import THROTTLED, Calls
from fencepost.kernel.aws.rows import Item

READ_AT_ONCE: Final = 100
"""Limit of `BatchGetItem`."""
WRITTEN_AT_ONCE: Final = 25
"""Limit of `BatchWriteItem`."""


def read_batch(calls: Calls, wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Item]]:
    """Return the existing rows of some keys, by table and in any order.

    Args:
        calls: sends the requests.
        wanted: keys and projection of each table, as in `BatchGetItem`; at most `READ_AT_ONCE` keys.

    Raises:
        FencepostError: keys are unprocessed at the deadline.
    """
    found: dict[str, list[Item]] = {table: [] for table in wanted}
    for attempt in calls.retries.attempts():
        try:
            response = calls.once("batch_get_item", wanted, {"RequestItems": wanted}, THROTTLED, attempt)
        except ClientError:
            continue
        for table, items in response["Responses"].items():
            found[table] += items
        # Keys whose rows did not fit into the response, or were throttled.
        wanted = response.get("UnprocessedKeys", {})
        if not wanted:
            return found
    raise calls.failed()


def write_batch(calls: Calls, table: str, requests: Sequence[Mapping[str, Any]]) -> None:
    """Put and delete rows, at most `WRITTEN_AT_ONCE`.

    Raises:
        FencepostError: requests are unprocessed at the deadline; all others have been written.
    """
    for attempt in calls.retries.attempts():
        try:
            response = calls.once("batch_write_item", [table], {"RequestItems": {table: requests}}, THROTTLED, attempt)
        except ClientError:
            continue
        requests = response.get("UnprocessedItems", {}).get(table, [])
        if not requests:
            return
    raise calls.failed()
