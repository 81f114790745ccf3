"""The schedule function: queue due documents, or run the reconciler."""

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
"""The `task` of an event that runs the reconciler; any other event queues due documents."""


class ScheduleFailed(Exception):
    """The task failed. Lambda counts the error and retries; the cause has been logged."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Lambda handler for scheduled events.

    Attributes:
        queue_due: queues a job for each due document, and yields the jobs.
        reconcile: compares index and tables, queues repairs, and yields each page's result.
    """

    queue_due: Callable[[], Iterable[Job]]
    reconcile: Callable[[], Iterable[DiffPage]]
    log: RequestLog

    def __call__(self, event: Mapping[str, Any], context: object) -> None:
        """Run the event's task.

        Raises:
            ScheduleFailed: the task failed.
        """
        self.log.begin(str(getattr(context, "aws_request_id", "")))
        began, queued, failed = time.perf_counter(), 0, False
        source: _Source = "reconcile" if event.get("task") == RECONCILE else "schedule"
        try:
            for job in self._reconcile() if source == "reconcile" else self.queue_due():
                if source == "schedule":
                    self.log.emit(JobEvent(purpose=job.purpose, result="queued"))
                queued += 1
        except Exception as error:  # noqa: BLE001 - the edge: no text of an error may pass it
            failed = True
            self._note(error)
        milliseconds = (time.perf_counter() - began) * 1_000
        self.log.emit(BatchEvent(source=source, records=queued, failed=int(failed), milliseconds=milliseconds))
        if failed:
            raise ScheduleFailed

    def _reconcile(self) -> Iterator[Job]:
        pages: list[DiffPage] = []
        try:
            for page in self.reconcile():
                pages.append(page)
                yield from page.jobs
        finally:
            self.log.emit(_reconcile_event(pages))

    def _note(self, error: Exception) -> None:
        if not isinstance(error, FencepostError):
            self.log.log_unexpected(error)


def idle(_event: Mapping[str, Any], _context: object) -> None:
    """Do nothing: a deployment without documents has no due work."""


def _reconcile_event(pages: Sequence[DiffPage]) -> ReconcileEvent:
    found = sum((page.findings for page in pages), Counter[Finding]())
    return ReconcileEvent(
        organisations=sum(page.then is None for page in pages),
        pages=len(pages),
        reads=sum(page.reads for page in pages),
        vectors_without_rows=found[Finding.VECTOR_WITHOUT_ROW],
        rows_without_vectors=found[Finding.ROW_WITHOUT_VECTOR],
        wrong_versions=found[Finding.WRONG_VERSION],
        wrong_models=found[Finding.WRONG_MODEL],
        repairs=sum(len(page.jobs) for page in pages),
    )
