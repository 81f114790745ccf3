"""Requests per address: one item per counter, address and UTC day, changed by one conditional update per request.

The item's key is an HMAC of the address under a key of that day, so the table reveals neither addresses nor which rows
of two days belong together. `today` counts the day, `m<minute of the day>` each minute in use.

An update also removes the counters of the minutes 3 … 45 before its own. More recent ones stay, so that counting is
exact while the instances' clocks agree within two minutes. Of any 48 consecutive minutes at most 3 then outlive the
next request, at most 90 in a day of 1,440 minutes: at up to 9 bytes each, with key, day's count and expiry (under 100
bytes), the item stays below 1 KB, one write unit, for every pattern of requests.
"""

from __future__ import annotations

import hmac
from datetime import UTC, datetime, time, timedelta
from typing import override

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from fencepost.kernel.aws.expressions import all_of, any_of
from fencepost.kernel.aws.rows import AttributeFamily, Row, number
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Refused, Table
from fencepost.kernel.clock import seconds_to_midnight, seconds_to_next_minute
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Keys
from fencepost.limits.domain.ledger import utc_day
from fencepost.limits.domain.requests import RateLimits
from fencepost.limits.ports import AddressLimiter

_MINUTES_KEPT = 3
_MINUTES_SWEPT = 45
_HASH_CHARACTERS = 32  # 128 bits: two addresses of a day never meet.
_RETENTION = timedelta(days=2)


class AddressRow(Row):
    """Requests of one address, counter and UTC day. Written by `DynamoDbAddressLimiter` alone."""

    pk = UnicodeAttribute(hash_key=True)  # address#<HMAC>
    today = NumberAttribute()
    in_minute = AttributeFamily(NumberAttribute, "m{}")  # m<minute of the day>
    expires_at = TTLAttribute()


class DynamoDbAddressLimiter(AddressLimiter):
    """Address limits in one table, with one conditional update for each request.

    The SDK repeats a request whose answer was lost, so it may count twice, but never too little.

    Args:
        table: name of the table.
        keys: derives the day's key.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, keys: Keys, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client, ErrorCode.RATE_LIMIT_UNAVAILABLE)
        self._keys = keys

    @override
    def admit(self, address: str, limits: RateLimits, now: datetime) -> None:
        """Count a request in both windows, or refuse it. If both windows are full, the error names the day."""
        moment = now.astimezone(UTC)
        key = self._keys.derive(f"address:{utc_day(now).isoformat()}")
        hashed = hmac.digest(key, f"{limits.counter}#{address}".encode(), "sha256").hex()[:_HASH_CHARACTERS]
        answer = self._table.update(
            AddressRow.key(f"address#{hashed}"),
            *_counting(moment),
            condition=_below(limits, moment),
        )
        if isinstance(answer, Refused):
            if number(answer.item, "today") >= limits.per_day:
                raise FencepostError(ErrorCode.RATE_LIMITED_DAY, retry_after=seconds_to_midnight(moment))
            raise FencepostError(ErrorCode.RATE_LIMITED_MINUTE, retry_after=seconds_to_next_minute(moment))


def _counting(moment: datetime) -> list[Action]:
    minute = _minute_of_day(moment)
    swept = range(max(0, minute - _MINUTES_SWEPT), minute - _MINUTES_KEPT + 1)
    return [
        AddressRow.expires_at.set(datetime.combine(moment.date(), time(), UTC) + _RETENTION),
        AddressRow.today.add(1),
        AddressRow.in_minute[minute].add(1),
        *(AddressRow.in_minute[old].remove() for old in swept),
    ]


def _below(limits: RateLimits, moment: datetime) -> Condition:
    today, this_minute = AddressRow.today, AddressRow.in_minute[_minute_of_day(moment)]
    return all_of(
        any_of(today.does_not_exist(), today < limits.per_day),
        any_of(this_minute.does_not_exist(), this_minute < limits.per_minute),
    )


def _minute_of_day(moment: datetime) -> int:
    return moment.hour * 60 + moment.minute
