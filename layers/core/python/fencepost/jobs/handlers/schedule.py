"""The schedule: from the clock to the queue of jobs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from fencepost.jobs.domain.index_diff import Finding
from fencepost.jobs.service.index_diff import DiffPage
from fencepost.kernel.errors import FencepostError
from fencepost.observability.domain.events import BatchEvent, JobEvent, ReconcileEvent
from fencepost.observability.ports import RequestLog
from fencepost.queue.domain import Job

type ScheduleHandler = Callable[[Mapping[str, Any], object], None]
type _Source = Literal["schedule", "reconcile"]

RECONCILE: Final = "reconcile"
"""The `task` of an event that asks for the reconciler; any other queues due documents."""


class ScheduleFailed(Exception):
    """It did not come to its end. Lambda counts the error, and tries again; its cause was reported before."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A Lambda handler for scheduled events.

    Attributes:
        queue_due: queues a job for each due document, and yields the jobs.
        reconcile: compares index and tables, queues what repairs them, and yields what each page told.
    """

    queue_due: Callable[[], Iterable[Job]]
    reconcile: Callable[[], Iterable[DiffPage]]
    log: RequestLog

    def __call__(self, event: Mapping[str, Any], context: object) -> None:
        """Do the event's task.

        Raises:
            ScheduleFailed: it did not come to its end.
        """
        self.log.begin(str(getattr(context, "aws_request_id", "")))
        began, queued, failed = time.perf_counter(), 0, False
        reconciles = event.get("task") == RECONCILE
        try:
            for _ in self._reconcile() if reconciles else self._queue_due():
                queued += 1
        except Exception as error:  # noqa: BLE001 - the edge: no text of an error may pass it
            failed = True
            self._note(error)
        seconds = time.perf_counter() - began
        self.log.emit(_event_of("reconcile" if reconciles else "schedule", queued, failed=failed, seconds=seconds))
        if failed:
            raise ScheduleFailed

    def _queue_due(self) -> Iterator[Job]:
        for job in self.queue_due():
            self.log.emit(JobEvent(purpose=job.purpose, result="queued"))
            yield job

    def _reconcile(self) -> Iterator[Job]:
        seen: list[DiffPage] = []
        try:
            for looked in self.reconcile():
                seen.append(looked)
                yield from looked.jobs
        finally:
            self.log.emit(_reconciled(seen))

    def _note(self, error: Exception) -> None:
        if not isinstance(error, FencepostError):
            self.log.log_unexpected(error)


def idle(_event: Mapping[str, Any], _context: object) -> None:
    """Do nothing: there are no documents."""


def _event_of(source: _Source, queued: int, *, failed: bool, seconds: float) -> BatchEvent:
    return BatchEvent(source=source, records=queued, failed=int(failed), milliseconds=seconds * 1_000)


def _reconciled(seen: Sequence[DiffPage]) -> ReconcileEvent:
    found = sum((looked.findings for looked in seen), Counter[Finding]())
    return ReconcileEvent(
        organisations=sum(looked.then is None for looked in seen),
        pages=len(seen),
        reads=sum(looked.reads for looked in seen),
        vectors_without_rows=found[Finding.VECTOR_WITHOUT_ROW],
        rows_without_vectors=found[Finding.ROW_WITHOUT_VECTOR],
        wrong_versions=found[Finding.WRONG_VERSION],
        wrong_models=found[Finding.WRONG_MODEL],
        repairs=sum(len(looked.jobs) for looked in seen),
    )
