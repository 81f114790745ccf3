"""The jobs function: run the jobs in messages of the queue."""

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
"""Longest time of a job: three calls of the model, and the stores. With less time left, no further job is begun."""


@dataclass(frozen=True, slots=True)
class JobQueueConsumer:
    """Lambda handler for messages of the job queue."""

    runner: JobRunner
    retries: RetryQueue
    log: RequestLog

    def __call__(self, event: Mapping[str, Any], context: object) -> PartialItemFailureResponse:
        """Run the jobs of a batch. Only failed jobs are delivered again."""
        self.log.begin(str(getattr(context, "aws_request_id", "")))
        return Batch("queue", lambda record: self._run(record, context), self.log, self._delay_retry).run(event)

    def _run(self, record: Mapping[str, Any], context: object) -> None:
        # A timeout in the middle of a job would return the whole batch to the queue.
        if _seconds_left(context) < JOB_SECONDS:
            raise FencepostError(ErrorCode.CONVERSATION_BUSY)
        attempt = _attempt(record)
        self.runner.run(read_job(record["body"]), attempt=attempt, last=attempt >= ATTEMPTS)

    def _delay_retry(self, record: Mapping[str, Any]) -> None:
        """Set the delay of a failed message. If that fails, the queue's visibility timeout applies."""
        with suppress(FencepostError):
            self.retries.retry(record["receiptHandle"], retry_delay(_attempt(record)))


def _attempt(record: Mapping[str, Any]) -> int:
    return int(record["attributes"]["ApproximateReceiveCount"])


def _seconds_left(context: object) -> float:
    """Return the seconds until the invocation times out; infinity if the context does not say."""
    left: Callable[[], int] | None = getattr(context, "get_remaining_time_in_millis", None)
    return (left() / 1_000 if left else 0) or inf


def read_job(body: str) -> Job:
    """Return the job in a message's body.

    Raises:
        Unreadable: the body is not a job.
    """
    try:
        return _adapter().validate_json(body)
    except ValidationError:
        # The error's text quotes the message, so it is dropped.
        raise Unreadable from None


@cache
def _adapter() -> TypeAdapter[Job]:
    return TypeAdapter(Job)
