"""Send requests to DynamoDB, with one error mapping, one retry policy and a report of consumed capacity."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from random import SystemRandom
from typing import Any, Literal

from botocore.exceptions import ClientError

from fencepost.kernel.aws.session import ClientFactory, aws_errors
from fencepost.kernel.errors import ErrorCode, FencepostError

type Operation = Literal[
    "get_item",
    "put_item",
    "update_item",
    "delete_item",
    "query",
    "batch_get_item",
    "batch_write_item",
    "transact_write_items",
]

CONDITION_FAILED = "ConditionalCheckFailedException"
THROTTLED = frozenset({"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"})
CONTENDED = frozenset({"TransactionConflictException", "TransactionInProgressException"})


@dataclass(frozen=True, slots=True)
class ConsumedCapacity:
    """Capacity of one table that a request consumed.

    Attributes:
        operation: method of the client.
        table: name of the table. A request to several tables has a `ConsumedCapacity` for each.
        units: read or write capacity units; 0 for failed requests, for which DynamoDB returns none.
        attempts: number of requests of the call so far, including this one but not the SDK's retries.
    """

    operation: Operation
    table: str
    units: float
    attempts: int


type Observer = Callable[[ConsumedCapacity], None]


@dataclass(frozen=True, slots=True)
class Calls:
    """Sends the requests of a table.

    Attributes:
        client: makes or returns the client.
        failure: code of errors.
        retries: policy for repeating requests.
        observer: called after each request; without one, no capacity is requested.
    """

    client: ClientFactory
    failure: ErrorCode
    retries: RetryPolicy
    observer: Observer | None

    def send(self, operation: Operation, table: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request, and repeat it while it is throttled or conflicts with a transaction.

        Returns:
            The response.

        Raises:
            ClientError: a condition failed.
            FencepostError: with the code `failure`; a write may have happened.
        """
        for attempt in self.retries.attempts():
            try:
                return self.once(operation, [table], request, {CONDITION_FAILED, *THROTTLED, *CONTENDED}, attempt)
            except ClientError as error:
                # None of these errors writes anything.
                if error_code(error) == CONDITION_FAILED:
                    raise
        raise self.failed()

    def once(
        self,
        operation: Operation,
        tables: Collection[str],
        request: Mapping[str, Any],
        expected: Collection[str],
        attempt: int,
    ) -> dict[str, Any]:
        """Send a request once.

        Args:
            operation: method of the client.
            tables: names of the tables in the request.
            request: parameters of the method.
            expected: codes of errors that the caller handles.
            attempt: number of requests of the call so far, including this one.

        Raises:
            ClientError: with one of the `expected` codes.
            FencepostError: any other failure. The SDK's error is dropped, since its text may name the table or a key.
        """
        capacity = {} if self.observer is None else {"ReturnConsumedCapacity": "TOTAL"}
        try:
            response: dict[str, Any] = getattr(self.client(), operation)(**request, **capacity)
        except _client_errors() as error:
            self._report(operation, dict.fromkeys(tables, 0.0), attempt)
            if isinstance(error, ClientError) and error_code(error) in expected:
                raise
            raise self.failed() from None
        if self.observer is not None:
            found = response.get("ConsumedCapacity", [])
            capacities = found if isinstance(found, list) else [found]
            units = {one["TableName"]: one["CapacityUnits"] for one in capacities}
            self._report(operation, dict.fromkeys(tables, 0.0) | units, attempt)
        return response

    def failed(self) -> FencepostError:
        """Return the error for callers."""
        return FencepostError(self.failure)

    def _report(self, operation: Operation, units: Mapping[str, float], attempt: int) -> None:
        for table, consumed in units.items() if self.observer else ():
            self.observer(ConsumedCapacity(operation, table, consumed, attempt))  # type: ignore[misc]


def error_code(error: ClientError) -> str:
    """Return the code of an error response."""
    return error.response.get("Error", {}).get("Code", "")


def _client_errors() -> tuple[type[Exception], ...]:
    # An answer that is not UTF-8 fails in the SDK's decoder, before its parsers.
    return *aws_errors(), UnicodeDecodeError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with jitter, up to a deadline.

    Each pause is between half its step and the whole step, so the deadline also bounds the number of attempts: about
    15 within the default two seconds.

    Attributes:
        deadline: seconds after the first attempt within which further attempts begin.
        first: first step in seconds; each step is twice the previous one.
        longest: longest step in seconds.
        clock: monotonic clock in seconds.
        sleep: waits for a number of seconds.
        jitter: returns a random number in [0, 1).
    """

    deadline: float = 2.0
    first: float = 0.01
    longest: float = 0.32
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    # The system's generator, since instances restored from one snapshot share the state of other generators.
    jitter: Callable[[], float] = SystemRandom().random

    def attempts(self) -> Iterator[int]:
        """Yield the number of each attempt from 1, after a pause before all but the first, until the deadline.

        Example:
            for attempt in policy.attempts():
                if send(attempt):
                    return
            raise FencepostError(...)
        """
        until, step = self.clock() + self.deadline, self.first
        for attempt in count(1):
            yield attempt
            pause = step * (1 + self.jitter()) / 2
            if self.clock() + pause > until:
                return
            self.sleep(pause)
            step = min(2 * step, self.longest)
