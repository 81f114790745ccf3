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
from typing import override
from urllib.parse import quote

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from fencepost.kernel.aws.expressions import all_of, any_of
from fencepost.kernel.aws.rows import AttributeFamily, Item, Key, Row, number
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Refused, Table
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

RETENTION = timedelta(days=400)
"""How long a day's bill is kept: a year and a month, so that a month can be compared with the year before."""

# 72 random bits, from the system: no two instances restored from one snapshot share them. 12 characters keep a mark at
# about 16 bytes of the item.
_ID_BYTES = 9


class DayRow(Row):
    """The bill of one UTC day and account. Written by `DynamoDbLedger` alone.

    Money is in micro-dollars. Attributes are absent until they are first counted.
    """

    pk = UnicodeAttribute(hash_key=True)  # <account>day#<date>
    calls = NumberAttribute()
    committed = NumberAttribute()
    spent = NumberAttribute()
    mark = AttributeFamily(NumberAttribute, "r{}")  # r<permit's or block's id>: number of its first call
    expires_at = TTLAttribute()


class DynamoDbLedger(BlockLedger):
    """Each method is one update, but for a block that no longer fits.

    Args:
        table: its name.
        client: makes or returns the client, at the first use.
        account: whose bill it is; the whole deployment's by default.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client, *, account: str = "") -> None:
        self._table = Table(table, client, ErrorCode.LEDGER_UNAVAILABLE)
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
        mark = DayRow.mark[wanted.id]
        answer = self._table.update(
            self._key(wanted.day),
            mark.set((DayRow.calls | 0) + 1),
            DayRow.expires_at.set(_expiry(wanted.day)),
            DayRow.calls.add(wanted.permits),
            DayRow.committed.add(wanted.money),
            condition=all_of(mark.does_not_exist(), _fits(wanted, caps)),
        )
        item = answer.item if isinstance(answer, Refused) else answer
        # A mark of ours in the item that refused us: an earlier attempt went through and only its answer was lost.
        if first_call := number(item, mark.attr_name):
            return replace(wanted, first_call=first_call, committed=_bill(item).committed)
        return _bill(item)

    def _close(self, day: date, lease_id: str, closing: BlockSettlement) -> None:
        # A refusal says that the mark is gone: closed before, and nothing is left to do.
        self._table.update(
            self._key(day),
            *(DayRow.mark[call.id].set(call.call_number) for call in closing.open),
            DayRow.mark[lease_id].remove(),
            DayRow.calls.add(-closing.unused_permits),
            DayRow.committed.add(-closing.unused_money),
            DayRow.spent.add(closing.spent),
            condition=DayRow.mark[lease_id].exists(),
        )

    def _key(self, day: date) -> Key:
        return DayRow.key(f"{self._account}day#{day.isoformat()}")


def site_account(org: str, site: str) -> str:
    """Return the account of one site's bill."""
    return f"site#{quote(org, safe='')}#{quote(site, safe='')}#"


def _lease(day: date, permits: int, amount: MicroDollars) -> BlockLease:
    lease_id = secrets.token_urlsafe(_ID_BYTES)
    return BlockLease(lease_id, day, permits, MicroDollars(permits * amount), first_call=0, committed=MicroDollars(0))


def _fits(wanted: BlockLease, caps: Caps) -> Condition:
    """Return the condition that a day has room for a lease: it is a new one, or below both caps."""
    calls, money = DayRow.calls <= caps.calls - wanted.permits, DayRow.committed <= caps.spend - wanted.money
    return any_of(DayRow.pk.does_not_exist(), all_of(calls, money))


def _expiry(day: date) -> datetime:
    return datetime.combine(day, time(), UTC) + RETENTION


def _bill(item: Item) -> DayBill:
    return DayBill(number(item, "calls"), MicroDollars(number(item, "committed")), MicroDollars(number(item, "spent")))
