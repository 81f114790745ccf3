"""The day's bill: one item per UTC day and account, changed by single conditional updates only.

`calls` and `committed` are what the caps bound, `spent` is the settled part of `committed`, all whole numbers, money in
micro-dollars. Every permit, or block of permits, that is not settled yet has a mark of its own in the same item:
`r<id>`, holding the number of its first call. Taking writes the mark on condition that it is absent, settling removes
it on condition that it is there. So each happens once, however often the SDK repeats a request whose answer was lost,
and a mark that stays behind shows which call never came back (docs/adr/0006).
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, override
from urllib.parse import quote

from fencepost.kernel.aws.legacy.client import ClientFactory, Item, Refused, dynamodb_client, number, update
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import (
    BlockLease,
    BlockSettlement,
    DayBill,
    Reservation,
    exhausted,
    fitting,
    utc_day,
)
from fencepost.limits.ports import BlockLedger

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, UpdateItemInputTypeDef

RETENTION = timedelta(days=400)
"""How long a day's bill is kept: a year and a month, so that a month can be compared with the year before."""

# 72 random bits, from the system: no two instances restored from one snapshot share them. 12 characters keep a mark at
# about 16 bytes of the item.
_ID_BYTES = 9


class DynamoDbLedger(BlockLedger):
    """Each method is one update, but for a block that no longer fits.

    Args:
        table: its name.
        client: makes or returns the client, at the first use.
        account: whose bill it is; the whole deployment's by default.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client, *, account: str = "") -> None:
        self._table = table
        self._client = client
        self._account = account

    @override
    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        lease = self.lease(1, amount, caps, now)
        return Reservation(lease.id, lease.day, lease.money, lease.first_call, lease.committed)

    @override
    def settle(self, reservation: Reservation, actual: MicroDollars) -> None:
        closing = BlockSettlement(unused_permits=0, unused_money=reservation.amount - actual, spent=actual)
        self._close(reservation.day, reservation.id, closing)

    @override
    def cancel(self, reservation: Reservation) -> None:
        unused = BlockSettlement(unused_permits=1, unused_money=reservation.amount, spent=MicroDollars(0))
        self._close(reservation.day, reservation.id, unused)

    @override
    def lease(self, permits: int, amount: MicroDollars, caps: Caps, now: datetime) -> BlockLease:
        """A block that does not fit shrinks to what the store says is left."""
        bill = DayBill()  # What not even an empty day could hold is refused without asking.
        while size := min(permits, fitting(bill, amount, caps)):
            answer = self._take(_lease(utc_day(now), size, amount), caps)
            if isinstance(answer, BlockLease):
                return answer
            bill, permits = answer, size - 1
        raise exhausted(bill, caps, now)

    @override
    def close(self, lease: BlockLease, closing: BlockSettlement) -> None:
        self._close(lease.day, lease.id, closing)

    def _take(self, wanted: BlockLease, caps: Caps) -> BlockLease | DayBill:
        request = _taking(self._item(wanted.day), wanted, caps)
        answer = update(self._client(), request, ErrorCode.LEDGER_UNAVAILABLE)
        item = answer.item if isinstance(answer, Refused) else answer
        # A mark of ours in the item that refused us: an earlier attempt went through and only its answer was lost.
        if first_call := number(item, _mark(wanted.id)):
            return replace(wanted, first_call=first_call, committed=_bill(item).committed)
        return _bill(item)

    def _close(self, day: date, lease_id: str, closing: BlockSettlement) -> None:
        # A refusal says that the mark is gone: closed before, and nothing is left to do.
        update(self._client(), _returning(self._item(day), lease_id, closing), ErrorCode.LEDGER_UNAVAILABLE)

    def _item(self, day: date) -> UpdateItemInputTypeDef:
        return {"TableName": self._table, "Key": {"pk": {"S": f"{self._account}day#{day.isoformat()}"}}}


def site_account(org: str, site: str) -> str:
    """Return the account of one site's bill."""
    return f"site#{quote(org, safe='')}#{quote(site, safe='')}#"


def _lease(day: date, permits: int, amount: MicroDollars) -> BlockLease:
    lease_id = secrets.token_urlsafe(_ID_BYTES)
    return BlockLease(lease_id, day, permits, MicroDollars(permits * amount), first_call=0, committed=MicroDollars(0))


def _taking(item: UpdateItemInputTypeDef, wanted: BlockLease, caps: Caps) -> UpdateItemInputTypeDef:
    return {
        **item,
        "UpdateExpression": "SET #mark = if_not_exists(calls, :zero) + :one, expires_at = :expiry "
        "ADD calls :permits, committed :money",
        "ConditionExpression": "attribute_not_exists(#mark) AND (attribute_not_exists(pk) OR "
        "(calls <= :calls_room AND committed <= :money_room))",
        "ExpressionAttributeNames": {"#mark": _mark(wanted.id)},
        "ExpressionAttributeValues": _numbers(
            zero=0,
            one=1,
            expiry=_expiry(wanted.day),
            permits=wanted.permits,
            money=wanted.money,
            calls_room=caps.calls - wanted.permits,
            money_room=caps.spend - wanted.money,
        ),
    }


def _returning(item: UpdateItemInputTypeDef, lease_id: str, closing: BlockSettlement) -> UpdateItemInputTypeDef:
    calls = {f"o{index}": call for index, call in enumerate(closing.open)}
    set_marks = "SET " + ",".join(f"#{name}=:{name}" for name in calls) if calls else ""
    return {
        **item,
        "UpdateExpression": f"{set_marks} REMOVE #mark ADD calls :permits, committed :money, spent :spent",
        "ConditionExpression": "attribute_exists(#mark)",
        "ExpressionAttributeNames": {"#mark": _mark(lease_id)}
        | {f"#{name}": _mark(call.id) for name, call in calls.items()},
        "ExpressionAttributeValues": _numbers(
            permits=-closing.unused_permits,
            money=-closing.unused_money,
            spent=closing.spent,
            **{name: call.call_number for name, call in calls.items()},
        ),
    }


def _mark(lease_id: str) -> str:
    return f"r{lease_id}"


def _numbers(**values: int) -> dict[str, AttributeValueTypeDef]:
    return {f":{name}": {"N": str(value)} for name, value in values.items()}


def _expiry(day: date) -> int:
    return int((datetime.combine(day, time(), UTC) + RETENTION).timestamp())


def _bill(item: Item) -> DayBill:
    return DayBill(number(item, "calls"), MicroDollars(number(item, "committed")), MicroDollars(number(item, "spent")))
