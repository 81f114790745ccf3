"""Requests per address: one item per counter, address and UTC day, changed by one conditional update per request.

The item's key is an HMAC of the address under a key of that day alone, so that nothing stored leads back to an address
or from one day to the next. `today` counts the day, `m<minute of the day>` each minute in use.

An update also removes the minutes 3 … 45 before its own. Those still nearer stay, so that counting is exact while the
instances' clocks agree within two minutes. Of any 48 minutes in a row at most 3 then outlive the next request, which
makes at most 90 in a day of 1,440: at up to 9 bytes each, with key, day's count and expiry (under 100 bytes), the item
stays below 1 KB, one write unit, whatever the pattern.
"""

from __future__ import annotations

import hmac
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, override

from fencepost.kernel.aws.legacy.client import ClientFactory, Refused, dynamodb_client, number, update
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Keys
from fencepost.kernel.windows import seconds_to_midnight, seconds_to_next_minute
from fencepost.limits.domain.ledger import utc_day
from fencepost.limits.domain.rates import Counter, RateLimits
from fencepost.limits.ports import AddressLimiter

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import UpdateItemInputTypeDef

_MINUTES_KEPT = 3
_MINUTES_SWEPT = 45
_HASH_CHARACTERS = 32  # 128 bits: two addresses of a day never meet.
_RETENTION = timedelta(days=2)


class DynamoDbAddressLimiter(AddressLimiter):
    """Implements `fencepost.limits.ports.AddressLimiter`.

    A request whose answer was lost is repeated once by the SDK and may then count twice: never too little.

    Args:
        table: its name.
        keys: gives the day's key.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, keys: Keys, client: ClientFactory = dynamodb_client) -> None:
        self._table = table
        self._keys = keys
        self._client = client

    @override
    def admit(self, address: str, limits: RateLimits, now: datetime) -> None:
        """

        Where both windows are full, the day's is named: to come back in a minute would be in vain.
        """
        moment = now.astimezone(UTC)
        request = _counting(self._table, self._key(limits.counter, address, utc_day(now)), moment, limits)
        answer = update(self._client(), request, ErrorCode.RATE_LIMIT_UNAVAILABLE)
        if isinstance(answer, Refused):
            raise _denied(number(answer.item, "today") >= limits.per_day, moment)

    def _key(self, counter: Counter, address: str, day: date) -> str:
        key = self._keys.derive(f"address:{day.isoformat()}")
        counted = f"{counter}#{address}".encode()
        return f"address#{hmac.digest(key, counted, 'sha256').hex()[:_HASH_CHARACTERS]}"


def _counting(table: str, key: str, moment: datetime, limits: RateLimits) -> UpdateItemInputTypeDef:
    minute = moment.hour * 60 + moment.minute
    swept = ", ".join(f"m{old}" for old in range(max(0, minute - _MINUTES_SWEPT), minute - _MINUTES_KEPT + 1))
    expiry = datetime.combine(moment.date(), time(), UTC) + _RETENTION
    return {
        "TableName": table,
        "Key": {"pk": {"S": key}},
        "UpdateExpression": f"SET expires_at = :expires ADD today :one, m{minute} :one"
        + (f" REMOVE {swept}" if swept else ""),
        "ConditionExpression": f"(attribute_not_exists(today) OR today < :per_day) AND "
        f"(attribute_not_exists(m{minute}) OR m{minute} < :per_minute)",
        "ExpressionAttributeValues": {
            ":one": {"N": "1"},
            ":expires": {"N": str(int(expiry.timestamp()))},
            ":per_day": {"N": str(limits.per_day)},
            ":per_minute": {"N": str(limits.per_minute)},
        },
    }


def _denied(by_day: bool, moment: datetime) -> FencepostError:
    if by_day:
        return FencepostError(ErrorCode.RATE_LIMITED_DAY, retry_after=seconds_to_midnight(moment))
    return FencepostError(ErrorCode.RATE_LIMITED_MINUTE, retry_after=seconds_to_next_minute(moment))
