"""The jobs function: from messages of the queue to what does them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from pydantic import TypeAdapter, ValidationError

from fencepost.jobs.handlers.batches import Batch, Unreadable
from fencepost.jobs.service.runner import JobRunner
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.ports import RequestLog
from fencepost.queue.domain import ATTEMPTS, Job, retry_delay
from fencepost.queue.ports import RetryQueue

JOB_SECONDS = 80.0
"""What a job may take: three calls of the model, and the stores. With less left, the next one is not begun."""


@dataclass(frozen=True, slots=True)
class JobQueueConsumer:
    """A Lambda handler for messages of the jobs' queue."""

    runner: JobRunner
    retries: RetryQueue
    log: RequestLog

    def __call__(self, event: Mapping[str, Any], context: object) -> PartialItemFailureResponse:
        """Run a batch. A job that failed comes again, alone."""
        self.log.begin(str(getattr(context, "aws_request_id", "")))
        return Batch("queue", lambda record: self._run(record, context), self.log, self._come_again).run(event)

    def _run(self, record: Mapping[str, Any], context: object) -> None:
        # A function that is stopped in the middle of a job would bring back the whole batch.
        if _seconds_left(context) < JOB_SECONDS:
            raise FencepostError(ErrorCode.CONVERSATION_BUSY)
        attempt = _attempt(record)
        self.runner.run(read_job(record["body"]), attempt=attempt, last=attempt >= ATTEMPTS)

    def _come_again(self, record: Mapping[str, Any]) -> None:
        """Let a failed message come again soon. Where that fails too, it comes when the queue's own timeout is over."""
        with suppress(FencepostError):
            self.retries.retry(record["receiptHandle"], retry_delay(_attempt(record)))


def _attempt(record: Mapping[str, Any]) -> int:
    return int(record["attributes"]["ApproximateReceiveCount"])


def _seconds_left(context: object) -> float:
    """Return what is left to the invocation; without end where it is not told."""
    left: Callable[[], int] | None = getattr(context, "get_remaining_time_in_millis", None)
    return (left() / 1_000 if left else 0) or inf


def read_job(body: str) -> Job:
    """Return the job that a message holds.

    Raises:
        Unreadable: it holds none.
    """
    try:
        return _adapter().validate_json(body)
    except ValidationError:
        # Its text quotes the message.
        raise Unreadable from None


@cache
def _adapter() -> TypeAdapter[Job]:
    return TypeAdapter(Job)
