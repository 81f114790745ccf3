"""The relay function: send the jobs that records of the conversations' stream ask for to the queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse

from fencepost.jobs.handlers.batches import Batch, Unreadable
from fencepost.observability.domain.events import JobEvent
from fencepost.observability.ports import RequestLog
from fencepost.queue.domain import Job
from fencepost.queue.ports import JobQueue


@dataclass(frozen=True, slots=True)
class Relay:
    """Lambda handler for records of the stream.

    Attributes:
        jobs_of: returns the jobs that a record asks for; raises `ValueError` for a malformed or foreign record.
    """

    jobs_of: Callable[[Mapping[str, Any]], Sequence[Job]]
    queue: JobQueue
    log: RequestLog

    def __call__(self, event: Mapping[str, Any], context: object) -> PartialItemFailureResponse:
        """Relay a batch. A failed record is delivered again with all that follow it, so jobs may be queued twice."""
        self.log.begin(str(getattr(context, "aws_request_id", "")))
        return Batch("stream", self._relay, self.log).run(event)

    def _relay(self, record: Mapping[str, Any]) -> None:
        try:
            jobs = self.jobs_of(record)
        except (ValueError, KeyError, TypeError):
            raise Unreadable from None
        if not jobs:
            return
        self.queue.send(jobs)
        for job in jobs:
            self.log.emit(JobEvent(purpose=job.purpose, result="queued"))
