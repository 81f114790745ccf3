"""The ledger in DynamoDB: one item per UTC day and account, changed by single conditional updates only.

The caps bound `calls` and `committed`; `spent` is the settled part of `committed`. All are whole numbers, money in
micro-dollars. Each permit or block of permits that is not settled has a mark in the same item: `r<id>`, with the number
of its first call. Taking a permit writes the mark on condition that it is absent; settling removes it on condition that
it exists. Each therefore happens once, even if the SDK repeats a request whose answer was lost, and a remaining mark
shows a call that was never settled (docs/adr/0006).
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
"""How long a day's bill is kept: a year and a month, so that a month can be compared with the previous year."""

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
    """The ledger of one account. Each method is one update, except leases of blocks that no longer fit.

    Args:
        table: name of the table.
        client: makes or returns the client, at the first use.
        account: a site's account (`site_account`); by default the whole deployment's.
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
        """Take a block. If it does not fit, it is reduced to the size that the store's counts leave room for."""
        bill = DayBill()  # Amounts that even an empty day could not hold are refused without a request.
        while size := min(permits, fitting(bill, amount, caps)):
            money = MicroDollars(size * amount)
            lease_id, day = secrets.token_urlsafe(_ID_BYTES), utc_day(now)
            answer = self._take(BlockLease(lease_id, day, size, money, first_call=0, committed=MicroDollars(0)), caps)
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
        # Our mark in the item that refused us: an earlier attempt succeeded, and only its answer was lost.
        if first_call := number(item, mark.attr_name):
            return replace(wanted, first_call=first_call, committed=_bill(item).committed)
        return _bill(item)

    def _close(self, day: date, lease_id: str, closing: BlockSettlement) -> None:
        # A refusal means that the mark is gone: it was closed before, and there is nothing to do.
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
    """Return the account of a site's bill."""
    return f"site#{quote(org, safe='')}#{quote(site, safe='')}#"


def _fits(wanted: BlockLease, caps: Caps) -> Condition:
    """Return the condition that a lease fits: the day has no item yet, or stays within both caps."""
    calls, money = DayRow.calls <= caps.calls - wanted.permits, DayRow.committed <= caps.spend - wanted.money
    return any_of(DayRow.pk.does_not_exist(), all_of(calls, money))


def _expiry(day: date) -> datetime:
    return datetime.combine(day, time(), UTC) + RETENTION


def _bill(item: Item) -> DayBill:
    return DayBill(number(item, "calls"), MicroDollars(number(item, "committed")), MicroDollars(number(item, "spent")))
