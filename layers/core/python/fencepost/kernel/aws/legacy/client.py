"""The one DynamoDB client of a process, and the one kind of write that limits are made of."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from fencepost.kernel.aws.session import (
    ATTEMPTS,
    CONNECT_TIMEOUT_SECONDS,
    READ_TIMEOUT_SECONDS,
    ClientFactory,
    aws_errors,
    connect,
    dynamodb_client,
)
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, UpdateItemInputTypeDef

__all__ = [
    "ATTEMPTS",
    "CONNECT_TIMEOUT_SECONDS",
    "READ_TIMEOUT_SECONDS",
    "ClientFactory",
    "connect",
    "dynamodb_client",
]

type Item = Mapping[str, AttributeValueTypeDef]

CONFLICT_PAUSES: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
"""Seconds before a write is tried again that met a transaction on its way: those are through in milliseconds."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The condition did not hold. `item` is what it was checked against; empty where there was none."""

    item: Item


def update(
    client: DynamoDBClient,
    request: UpdateItemInputTypeDef,
    failure: ErrorCode,
    pause: Callable[[float], None] = time.sleep,
) -> Item | Refused:
    """Make one conditional update, and wait for transactions that are at its row.

    Returns:
        The attributes that the update wrote, or the item that it met when its condition did not hold.

    Raises:
        FencepostError: with the code `failure` when no answer came that can be read, and the store may have written
            all the same; or when the transactions do not come to an end. The SDK's error is dropped: its text may name
            the table or the key.
    """
    asked: UpdateItemInputTypeDef = {
        "ReturnValues": "UPDATED_NEW",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        **request,
    }
    for seconds in CONFLICT_PAUSES:
        try:
            return client.update_item(**asked).get("Attributes", {})
        except client.exceptions.ConditionalCheckFailedException as error:
            return Refused(cast("Item", error.response.get("Item", {})))
        except client.exceptions.TransactionConflictException:
            # Nothing was written: a turn's transaction was at the row, or the other way round.
            pause(seconds)
        except store_errors():
            raise FencepostError(failure) from None
    raise FencepostError(failure)


def store_errors() -> tuple[type[Exception], ...]:
    """Return what the client raises: the SDK decodes an answer's text before it looks at what it says."""
    return *aws_errors(), UnicodeDecodeError


def number(item: Item, name: str) -> int:
    """Return a whole number of an item; 0 where it is absent."""
    return int(item[name]["N"]) if name in item else 0


class OneTable:
    """An adapter that reads or writes one table.

    Args:
        table: its name.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = table
        self._client = client
