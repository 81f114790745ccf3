"""Requests to DynamoDB: their errors, their repetition, and the capacity that they consumed."""

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
class Usage:
    """One request and the capacity that it consumed of one table.

    Attributes:
        operation: the client's method.
        table: name of the table; of several, each has its own `Usage`.
        units: read or write capacity units; 0 where DynamoDB refused, for it does not tell then.
        attempts: how many requests the call has sent, with this one. Repetitions inside the SDK do not count.
    """

    operation: Operation
    table: str
    units: float
    attempts: int


type Observer = Callable[[Usage], None]


@dataclass(frozen=True, slots=True)
class Calls:
    """Sends the requests of a table.

    Attributes:
        client: makes or returns the client.
        failure: code of the errors that callers see.
        retries: when a request is repeated.
        observer: is told about each request; without one no capacity is asked for.
    """

    client: ClientFactory
    failure: ErrorCode
    retries: RetryPolicy
    observer: Observer | None

    def send(self, operation: Operation, table: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request until it is neither throttled nor turned away by a transaction on the same row.

        Returns:
            The answer.

        Raises:
            ClientError: a condition failed.
            FencepostError: with the code `failure`; the store may have written all the same.
        """
        for attempt in self.retries.attempts():
            try:
                return self.once(operation, [table], request, {CONDITION_FAILED, *THROTTLED, *CONTENDED}, attempt)
            except ClientError as error:
                # Nothing was written in any of these cases.
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
            operation: the client's method.
            tables: names of the tables in the request.
            request: its parameters.
            expected: the SDK's codes of the errors that the caller handles.
            attempt: how many requests the call has sent, with this one.

        Raises:
            ClientError: one of `expected`.
            FencepostError: any other failure. The SDK's error is dropped: its text may name the table or the key.
        """
        capacity = {} if self.observer is None else {"ReturnConsumedCapacity": "TOTAL"}
        try:
            answer: dict[str, Any] = getattr(self.client(), operation)(**request, **capacity)
        except _client_errors() as error:
            self._report(operation, dict.fromkeys(tables, 0.0), attempt)
            if isinstance(error, ClientError) and error_code(error) in expected:
                raise
            raise self.failed() from None
        if self.observer is not None:
            self._report(operation, dict.fromkeys(tables, 0.0) | _consumed(answer), attempt)
        return answer

    def failed(self) -> FencepostError:
        """Return the error that callers see."""
        return FencepostError(self.failure)

    def _report(self, operation: Operation, units: Mapping[str, float], attempt: int) -> None:
        for table, consumed in units.items() if self.observer else ():
            self.observer(Usage(operation, table, consumed, attempt))  # type: ignore[misc]


def error_code(error: ClientError) -> str:
    """Return the code of an error that the service answered."""
    return error.response.get("Error", {}).get("Code", "")


def _client_errors() -> tuple[type[Exception], ...]:
    # An answer that is not UTF-8 fails in the SDK's decoder, before its parsers.
    return *aws_errors(), UnicodeDecodeError


def _consumed(answer: Mapping[str, Any]) -> dict[str, float]:
    capacity = answer.get("ConsumedCapacity", [])
    return {one["TableName"]: one["CapacityUnits"] for one in (capacity if isinstance(capacity, list) else [capacity])}


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Backoff for what DynamoDB asks to be sent again.

    Each pause is drawn from the upper half of its step, so the deadline also bounds the number of attempts: about
    fifteen within the default two seconds.

    Attributes:
        deadline: seconds from the first attempt after which no other begins.
        first: seconds of the first step; each step is twice the one before.
        longest: seconds of the longest step.
        clock: seconds of a monotonic clock.
        sleep: waits for so many seconds.
        jitter: a number from 0 up to 1.
    """

    deadline: float = 2.0
    first: float = 0.01
    longest: float = 0.32
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    # From the system: instances that were restored from one snapshot share the state of any other generator.
    jitter: Callable[[], float] = SystemRandom().random

    def attempts(self) -> Iterator[int]:
        """Yield the numbers of attempts from 1, with a pause before each but the first, until the deadline.

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
