"""The per-address limits on DynamoDB: exact under races, in one operation and one write unit."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.limits.domain.requests import Counter as Kind
from fencepost.limits.domain.requests import RateLimits
from fencepost.limits.dynamodb.limiter import DynamoDbAddressLimiter
from local.emulator import Emulator
from tests.fakes.answers import FakeKeys
from tests.integration.tables import connect, create_table, lose_answers, sent_operations

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ADDRESS = "203.0.113.7"
DEFAULTS = RateLimits(10, 100)
PLENTY = RateLimits(100_000, 10_000_000)


@dataclass(frozen=True)
class Door:
    """A limiter on a table of its own."""

    client: DynamoDBClient
    table: str

    def admit(self, limits: RateLimits, now: datetime, address: str = ADDRESS) -> str:
        """Count a request and return how it went."""
        try:
            DynamoDbAddressLimiter(self.table, FakeKeys(), lambda: self.client).admit(address, limits, now)
        except FencepostError as error:
            return error.code
        return "admitted"

    def items(self) -> list[dict[str, AttributeValueTypeDef]]:
        return self.client.scan(TableName=self.table)["Items"]


@pytest.fixture
def door(emulator: Emulator) -> Door:
    client = connect(emulator.endpoint_url)
    return Door(client, create_table(client))


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (RateLimits(100, 100_000), ErrorCode.RATE_LIMITED_MINUTE),
        (RateLimits(100_000, 100), ErrorCode.RATE_LIMITED_DAY),
    ],
    ids=["minute", "day"],
)
def test_exactly_one_hundred_of_five_hundred_racing_requests_are_admitted(
    door: Door, limits: RateLimits, code: ErrorCode
) -> None:
    with ThreadPoolExecutor(64) as pool:
        outcomes = Counter(pool.map(lambda _: door.admit(limits, NOON), range(500)))
    assert outcomes == {"admitted": 100, code: 400}


def test_a_request_takes_one_operation_admitted_or_denied(door: Door) -> None:
    operations = sent_operations(door.client)
    assert [door.admit(RateLimits(1, 5), NOON) for _ in range(2)] == ["admitted", ErrorCode.RATE_LIMITED_MINUTE]
    assert operations == ["UpdateItem"] * 2


def test_a_new_minute_admits_again_until_the_day_is_full(door: Door) -> None:
    outcomes = [[door.admit(RateLimits(10, 25), NOON + minute * MINUTE) for _ in range(11)] for minute in range(4)]
    assert [minute.count("admitted") for minute in outcomes] == [10, 10, 5, 0]
    assert {code for minute in outcomes[2:] for code in minute} == {"admitted", ErrorCode.RATE_LIMITED_DAY}


def test_a_new_day_admits_again(door: Door) -> None:
    one = RateLimits(1, 1)
    last_moment = datetime(2026, 3, 1, 23, 59, 59, 999_999, UTC)
    assert [door.admit(one, NOON), door.admit(one, last_moment)] == ["admitted", ErrorCode.RATE_LIMITED_DAY]
    assert door.admit(one, last_moment + timedelta(microseconds=1)) == "admitted"


def test_denied_requests_are_not_counted(door: Door) -> None:
    for _ in range(5):
        door.admit(RateLimits(2, 100), NOON)
    assert [item["today"] for item in door.items()] == [{"N": "2"}]


def test_a_lowered_limit_binds_at_once(door: Door) -> None:
    for _ in range(3):
        assert door.admit(DEFAULTS, NOON) == "admitted"
    assert door.admit(RateLimits(3, 100), NOON) == ErrorCode.RATE_LIMITED_MINUTE
    assert door.admit(RateLimits(10, 3), NOON) == ErrorCode.RATE_LIMITED_DAY


@pytest.mark.parametrize(
    ("limits", "now", "seconds"),
    [
        (RateLimits(1, 100), datetime(2026, 3, 1, 12, 0, 0, 1, UTC), 60),
        (RateLimits(1, 100), datetime(2026, 3, 1, 12, 0, 59, 999_999, UTC), 1),
        (RateLimits(1, 1), datetime(2026, 3, 1, 12, 0, 0, 1, UTC), 12 * 60 * 60),
        (RateLimits(1, 1), datetime(2026, 3, 1, 23, 59, 59, 999_999, UTC), 1),
    ],
)
def test_a_denial_says_when_to_come_back(door: Door, limits: RateLimits, now: datetime, seconds: int) -> None:
    limiter = DynamoDbAddressLimiter(door.table, FakeKeys(), lambda: door.client)
    limiter.admit(ADDRESS, limits, now)
    with pytest.raises(FencepostError) as denied:
        limiter.admit(ADDRESS, limits, now)
    assert denied.value.retry_after == seconds


def test_addresses_are_counted_apart_and_another_zone_is_the_same_moment(door: Door) -> None:
    one = RateLimits(1, 1)
    assert door.admit(one, NOON) == "admitted"
    assert door.admit(one, NOON, "2001:db8:1:2::/64") == "admitted"
    assert door.admit(one, NOON.astimezone(tz=None)) == ErrorCode.RATE_LIMITED_DAY


def test_what_calls_no_model_is_counted_apart_in_one_operation(door: Door) -> None:
    operations = sent_operations(door.client)
    chat, other = RateLimits(1, 1), RateLimits(1, 2, Kind.OTHER)
    assert [door.admit(limits, NOON) for limits in (chat, other)] == ["admitted"] * 2
    assert door.admit(chat, NOON + MINUTE) == ErrorCode.RATE_LIMITED_DAY
    assert [door.admit(other, NOON + MINUTE) for _ in range(2)] == ["admitted", ErrorCode.RATE_LIMITED_DAY]
    assert operations == ["UpdateItem"] * 5


def test_the_table_holds_no_address_and_nothing_that_links_two_days(door: Door) -> None:
    for day in range(3):
        door.admit(DEFAULTS, NOON + timedelta(days=day))
    keys = {item["pk"]["S"] for item in door.items()}
    assert len(keys) == 3
    assert not any(ADDRESS in repr(item) for item in door.items())


def test_an_item_expires_within_two_days(door: Door) -> None:
    door.admit(DEFAULTS, NOON)
    assert [item["expires_at"] for item in door.items()] == [
        {"N": str(int(datetime(2026, 3, 3, tzinfo=UTC).timestamp()))}
    ]


def test_counting_is_exact_while_clocks_agree_within_two_minutes(door: Door) -> None:
    limits, ahead = RateLimits(2, 100), NOON + 2 * MINUTE
    outcomes = [door.admit(limits, now) for now in (NOON, ahead, NOON, ahead, NOON, ahead)]
    assert outcomes == ["admitted"] * 4 + [ErrorCode.RATE_LIMITED_MINUTE] * 2


def test_the_worst_pattern_of_a_day_stays_within_one_write_unit(door: Door) -> None:
    """Bursts of three minutes that the next request does not sweep: the most that can pile up."""
    units: list[float] = []

    def ask(params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def note(parsed: dict[str, Any], **_: Any) -> None:
        units.append(parsed["ConsumedCapacity"]["CapacityUnits"])

    door.client.meta.events.register("provide-client-params.dynamodb.UpdateItem", ask)
    door.client.meta.events.register("after-call.dynamodb.UpdateItem", note)
    midnight = datetime(2026, 3, 1, tzinfo=UTC)
    for minute in range(1_440):
        if minute % 48 < 3:
            assert door.admit(PLENTY, midnight + minute * MINUTE) == "admitted"
    (item,) = door.items()
    assert len([name for name in item if name.startswith("m")]) == 90
    assert set(units) == {1.0}
    # With the largest counts that the settings allow it is still below 1 KB.
    names = sum(len(name) for name in item) + len(item["pk"]["S"])
    largest_number = 5
    assert names + largest_number * len(item) < 1_024


def test_an_answer_lost_once_counts_at_least_once(door: Door) -> None:
    lose_answers(door.client, 1)
    assert door.admit(DEFAULTS, NOON) == "admitted"
    assert [item["today"] for item in door.items()] == [{"N": "2"}]


def test_a_store_that_does_not_answer_fails_closed(door: Door) -> None:
    lose_answers(door.client, 2)
    assert door.admit(DEFAULTS, NOON) == ErrorCode.RATE_LIMIT_UNAVAILABLE


def test_a_failure_carries_neither_address_nor_hash(door: Door) -> None:
    limiter = DynamoDbAddressLimiter("no-such-table", FakeKeys(), lambda: door.client)
    with pytest.raises(FencepostError) as failed:
        limiter.admit(ADDRESS, DEFAULTS, NOON)
    assert failed.value.args == ("rate_limit_unavailable",)
    assert failed.value.__suppress_context__
