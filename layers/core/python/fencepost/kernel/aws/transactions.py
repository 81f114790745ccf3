"""Send the writes of a transaction, and read why one was cancelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from botocore.exceptions import ClientError

from fencepost.kernel.aws.calls import CONTENDED, THROTTLED, Calls, error_code
from fencepost.kernel.aws.rows import Item

_CANCELLED: Final = "TransactionCanceledException"
_FAILED_CONDITION: Final = "ConditionalCheckFailed"
_CONFLICTS: Final = frozenset({"TransactionConflict", "TransactionInProgressException"})
_THROTTLES: Final = frozenset({"ThrottlingError", "ProvisionedThroughputExceeded"})


@dataclass(frozen=True, slots=True)
class Write:
    """A write of a transaction, as `Table.put_write` and similar methods return it."""

    kind: Literal["Put", "Update", "Delete", "ConditionCheck"]
    request: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A transaction that wrote nothing.

    Attributes:
        met: by the name of each write whose condition failed, the row that it failed on; empty if there was no row.
        throttled: no condition failed, and a table was out of capacity.
    """

    met: Mapping[str, Item]
    throttled: bool = False

    @property
    def contended(self) -> bool:
        """No condition failed: another transaction was writing one of the rows."""
        return not self.met and not self.throttled


def transact_once(calls: Calls, writes: Mapping[str, Write], attempt: int) -> Cancelled | None:
    """Send a transaction once. The SDK repeats a lost request under the same token, which has no further effect.

    Raises:
        FencepostError: a failure for another reason than those of `Cancelled`.
    """
    request = {"TransactItems": [{one.kind: one.request} for one in writes.values()]}
    tables = dict.fromkeys(one.request["TableName"] for one in writes.values())
    expected = {_CANCELLED, *CONTENDED, *THROTTLED}
    try:
        calls.once("transact_write_items", tables, request, expected, attempt)
    except ClientError as error:
        cancelled = _read(error, list(writes))
        if cancelled is None:
            raise calls.failed() from None
        return cancelled
    return None


def _read(error: ClientError, names: list[str]) -> Cancelled | None:
    if error_code(error) != _CANCELLED:
        return Cancelled({}, throttled=error_code(error) in THROTTLED)
    reasons: list[dict[str, Any]] = error.response.get("CancellationReasons", [])  # type: ignore[assignment]  # not in the SDK's types
    codes = {reason["Code"] for reason in reasons} - {"None"}
    if _FAILED_CONDITION in codes:
        pairs = zip(names, reasons, strict=False)
        return Cancelled({name: one.get("Item", {}) for name, one in pairs if one["Code"] == _FAILED_CONDITION})
    # Other codes, such as for rows that are too large or requests that are invalid, would fail again.
    known = bool(codes) and codes <= _CONFLICTS | _THROTTLES
    return Cancelled({}, throttled=bool(codes & _THROTTLES)) if known else None
