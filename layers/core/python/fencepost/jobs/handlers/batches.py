"""Process the records of a stream or queue one by one, and report failures for each record.

Powertools returns the failed records to Lambda, so that only they are delivered again. A failure of one record must not
stop the others, which is why there is a broad `except` here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse

from fencepost.kernel.errors import FencepostError
from fencepost.observability.domain.events import BatchEvent
from fencepost.observability.ports import RequestLog

type BatchSource = Literal["stream", "queue"]
type BatchHandler = Callable[[Mapping[str, Any], object], PartialItemFailureResponse]

_TYPES = {"stream": EventType.DynamoDBStreams, "queue": EventType.SQS}


def _nothing(_record: Mapping[str, Any]) -> None:
    """Do nothing: a stream delivers failed records again by itself."""


def idle(_event: Mapping[str, Any], _context: object) -> PartialItemFailureResponse:
    """Accept all records and do nothing: the demo stores no conversations."""
    return {"batchItemFailures": []}


class Unreadable(Exception):
    """The record is malformed or foreign. It fails at each delivery, and so ends in the dead letters."""


@dataclass(slots=True)
class Batch:
    """The records of one invocation.

    Attributes:
        handle: processes a record as Lambda delivered it; any exception makes the record fail.
        failed: called with each record that failed.
        unreadable: number of records that `handle` raised `Unreadable` for.
    """

    source: BatchSource
    handle: Callable[[Mapping[str, Any]], None]
    log: RequestLog
    failed: Callable[[Mapping[str, Any]], None] = _nothing
    unreadable: int = 0
    began: float = field(default_factory=time.perf_counter)

    def run(self, event: Mapping[str, Any]) -> PartialItemFailureResponse:
        """Process all records of an event, and return those that failed."""
        # A new processor for each event: it holds records, and data of one tenant must not outlive its event.
        processor = BatchProcessor(_TYPES[self.source], raise_on_entire_batch_failure=False)
        answer = process_partial_response(dict(event), self._record, processor)
        self.log.emit(self._event(len(event["Records"]), len(answer["batchItemFailures"])))
        return answer

    def _record(self, record: Any) -> None:
        try:
            self.handle(record.raw_event)
        except Exception as error:
            self._note(error)
            self.failed(record.raw_event)
            raise

    def _note(self, error: Exception) -> None:
        if isinstance(error, Unreadable):
            self.unreadable += 1
        elif not isinstance(error, FencepostError):
            self.log.log_unexpected(error)

    def _event(self, records: int, failed: int) -> BatchEvent:
        return BatchEvent(
            source=self.source,
            records=records,
            failed=failed - self.unreadable,
            unreadable=self.unreadable,
            milliseconds=(time.perf_counter() - self.began) * 1_000,
        )
