"""The relay: from the conversations' stream to the queue of jobs."""

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
    """A Lambda handler for records of the stream.

    Attributes:
        jobs_of: returns what one record asks for; raises `ValueError` for a record that is none of ours.
    """

    jobs_of: Callable[[Mapping[str, Any]], Sequence[Job]]
    queue: JobQueue
    log: RequestLog

    def __call__(self, event: Mapping[str, Any], context: object) -> PartialItemFailureResponse:
        """Relay a batch. A record that failed comes again, with all that follow it: jobs bear being queued twice."""
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
