"""Cost of the limits: write units and operations per request, and turns per second with and without block leasing.

Run `python -m benchmarks.ledger`. It starts an emulated DynamoDB, whose write units follow the service's published
rules. Times are the emulator's and are meaningful only as ratios.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.report import Row, print_table
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.requests import RateLimits
from fencepost.limits.dynamodb.ledger import DynamoDbLedger
from fencepost.limits.dynamodb.limiter import DynamoDbAddressLimiter
from fencepost.limits.ports import Ledger
from fencepost.limits.service.block_leasing import BlockLeasingLedger
from local import emulator, processes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CENT = MicroDollars(10_000)
CAPS = Caps(10**9, MicroDollars(10**15))
BLOCK = 16
THREADS = 16
TURNS = 640


class Meter:
    """Counts a client's operations and the write units that they consume."""

    def __init__(self, client: DynamoDBClient) -> None:
        self.operations = 0
        self.units = 0.0
        client.meta.events.register("provide-client-params.dynamodb.UpdateItem", self._ask)
        client.meta.events.register("after-call.dynamodb.UpdateItem", self._note)

    def of(self, run: Callable[[], object]) -> tuple[int, float]:
        """Return the operations and write units that a run consumed."""
        operations, units = self.operations, self.units
        run()
        return self.operations - operations, self.units - units

    def _ask(self, params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def _note(self, parsed: dict[str, Any], **_: Any) -> None:
        self.operations += 1
        self.units += parsed.get("ConsumedCapacity", {}).get("CapacityUnits", 1.0)


def main() -> None:
    """Print the table."""
    with emulated() as client:
        meter = Meter(client)
        print_table([*capacity_rows(client, meter), *throughput_rows(client, meter)])


def capacity_rows(client: DynamoDBClient, meter: Meter) -> Iterator[Row]:
    """Yield the cost of each step of a request, and its growth with the number of calls in progress."""
    keys = SecretKeys("signing", read=lambda _name, _anew: "a signing secret")
    limiter = DynamoDbAddressLimiter(table(client, "limits"), keys, lambda: client)
    yield step("admit an address", meter, lambda: limiter.admit("203.0.113.7", RateLimits(10, 100), NOON))
    ledger = DynamoDbLedger(table(client, "ledger"), lambda: client)
    for under_way in (0, 50, 200):
        yield from turn_rows(ledger, meter, under_way)


def turn_rows(ledger: DynamoDbLedger, meter: Meter, under_way: int) -> Iterator[Row]:
    """Yield the cost of reserving and settling while the given number of other calls is reserved and not settled."""
    calls = [ledger.reserve(CENT, CAPS, NOON) for _ in range(under_way)]
    name = f"{under_way} calls under way"
    yield step(f"reserve, {name}", meter, lambda: calls.append(ledger.reserve(CENT, CAPS, NOON)))
    yield step(f"settle, {name}", meter, lambda: ledger.settle(calls.pop(), CENT))
    for call in calls:
        ledger.settle(call, CENT)


def step(name: str, meter: Meter, run: Callable[[], object]) -> Row:
    """Return the row of one step."""
    operations, units = meter.of(run)
    return Row(name, f"{operations} operation, {units:g} write unit{'' if units == 1 else 's'}")


def throughput_rows(client: DynamoDBClient, meter: Meter) -> Iterator[Row]:
    """Yield turns per second and operations per turn, with block leases against the plain ledger."""
    store = DynamoDbLedger(table(client, "plain"), lambda: client)
    leased = BlockLeasingLedger(DynamoDbLedger(table(client, "leased"), lambda: client), BLOCK)
    plain_rate, plain_operations = turns(store, meter)
    leased_rate, leased_operations = turns(leased, meter)
    name = f"leased by {BLOCK} against plain, {THREADS} threads"
    yield Row(
        f"operations per turn, {name}",
        f"{leased_operations:.2f}",
        f"{plain_operations:.2f}",
        f"{leased_operations / plain_operations:.2f}×",
    )
    yield Row(
        f"turns per second, {name}", f"{leased_rate:.0f}", f"{plain_rate:.0f}", f"{leased_rate / plain_rate:.1f}×"
    )


def turns(ledger: Ledger, meter: Meter) -> tuple[float, float]:
    """Reserve and settle concurrently; return turns per second and operations per turn."""

    def turn(_: int) -> None:
        ledger.settle(ledger.reserve(CENT, CAPS, NOON), CENT)

    operations, start = meter.operations, time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(turn, range(TURNS)):
            pass
    return TURNS / (time.perf_counter() - start), (meter.operations - operations) / TURNS


@contextmanager
def emulated() -> Iterator[DynamoDBClient]:
    """Start the emulator for the duration of the benchmark."""
    os.environ.update(emulator.CREDENTIALS)
    with tempfile.TemporaryDirectory() as folder:
        running = emulator.start(Path(folder), processes.free_port())
        try:
            yield running.client("dynamodb")
        finally:
            running.stop()


def table(client: DynamoDBClient, name: str) -> str:
    """Create a table like the template's."""
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    return name


if __name__ == "__main__":
    main()
