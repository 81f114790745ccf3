"""The schedule: from the clock to the queue of jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.domain.errors import FencepostError
from fencepost.domain.events import BatchEvent, JobEvent
from fencepost.domain.jobs import Job
from fencepost.edge.endpoint import RequestLog

type ScheduleHandler = Callable[[Mapping[str, Any], object], None]


class ScheduleFailed(Exception):
    """It did not come to its end. Lambda counts the error, and tries again; its cause was reported before."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A Lambda handler for scheduled events.

    Attributes:
        sweep: queues what is due, and yields the jobs.
    """

    sweep: Callable[[], Iterable[Job]]
    log: RequestLog

    def __call__(self, _event: Mapping[str, Any], context: object) -> None:
        """Queue what is due.

        Raises:
            ScheduleFailed: not all of it could be.
        """
        self.log.begin(str(getattr(context, "aws_request_id", "")))
        began, queued, failed = time.perf_counter(), 0, False
        try:
            for job in self.sweep():
                queued += 1
                self.log.emit(JobEvent(purpose=job.purpose, result="queued"))
        except Exception as error:  # noqa: BLE001 - the edge: no text of an error may pass it
            failed = True
            self._note(error)
        self.log.emit(_event_of(queued, failed=failed, seconds=time.perf_counter() - began))
        if failed:
            raise ScheduleFailed

    def _note(self, error: Exception) -> None:
        if not isinstance(error, FencepostError):
            self.log.log_unexpected(error)


def idle(_event: Mapping[str, Any], _context: object) -> None:
    """Do nothing: there are no documents."""


def _event_of(queued: int, *, failed: bool, seconds: float) -> BatchEvent:
    return BatchEvent(source="schedule", records=queued, failed=int(failed), milliseconds=seconds * 1_000)
