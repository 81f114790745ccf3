"""Transactions of several writes, and what stood in the way of one that was cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from fencepost.kernel.aws.legacy.client import CONFLICT_PAUSES, Item, store_errors
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_CONFLICTS: Final = frozenset({"TransactionConflict", "TransactionInProgressException"})
_FAILED_CONDITION: Final = "ConditionalCheckFailed"


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A transaction that wrote nothing.

    Attributes:
        met: by the action's name, the row that its condition failed on; empty where there was none.
    """

    met: Mapping[str, Item]

    @property
    def contended(self) -> bool:
        """No condition failed: another transaction was at one of the rows."""
        return not self.met


def transact(client: DynamoDBClient, actions: Mapping[str, TransactWriteItemTypeDef]) -> Cancelled | None:
    """Write all or nothing. The SDK repeats a request whose answer was lost under the same token: it counts once.

    Returns:
        None where all was written.

    Raises:
        FencepostError: `conversations_unavailable`; the store may have written all the same.
    """
    try:
        client.transact_write_items(TransactItems=list(actions.values()))
    except client.exceptions.TransactionCanceledException as error:
        return _cancelled(list(actions), cast("list[dict[str, Any]]", error.response.get("CancellationReasons", [])))
    except (client.exceptions.TransactionInProgressException, client.exceptions.TransactionConflictException):
        return Cancelled({})
    except store_errors():
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
    return None


def transact_with_retry(
    client: DynamoDBClient,
    actions: Mapping[str, TransactWriteItemTypeDef],
    pause: Callable[[float], None] = time.sleep,
) -> Cancelled | None:
    """Write all or nothing, and wait for other transactions on the same rows.

    Raises:
        FencepostError: as `transact`; also where the others do not come to an end.
    """
    for seconds in CONFLICT_PAUSES:
        cancelled = transact(client, actions)
        if cancelled is None or not cancelled.contended:
            return cancelled
        pause(seconds)
    raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)


def _cancelled(names: list[str], reasons: list[dict[str, Any]]) -> Cancelled:
    codes = {reason["Code"] for reason in reasons} - {"None", _FAILED_CONDITION}
    met = {
        name: cast("Item", reason.get("Item", {}))
        for name, reason in zip(names, reasons, strict=False)
        if reason["Code"] == _FAILED_CONDITION
    }
    if not met and not (codes and codes <= _CONFLICTS):
        # Throttled, or a row that is too large: the store's failure, and not another turn's doing.
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
    return Cancelled(met)
