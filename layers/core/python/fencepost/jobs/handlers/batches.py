"""What the functions behind a stream and a queue share: each record alone, failures reported one by one.

Powertools answers Lambda with the records that failed, so that only they come again. The only broad `except` stands
here: whatever goes wrong with one record, the others are done.
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
    """A stream brings a failed record again by itself."""


def idle(_event: Mapping[str, Any], _context: object) -> PartialItemFailureResponse:
    """Take everything and do nothing: the demo remembers nobody."""
    return {"batchItemFailures": []}


class Unreadable(Exception):
    """A record that is none of ours. It fails each time, and so ends among the dead letters."""


@dataclass(slots=True)
class Batch:
    """One invocation.

    Attributes:
        handle: does one record, as it came; what it raises makes the record fail.
        failed: is told of each record that failed.
    """

    source: BatchSource
    handle: Callable[[Mapping[str, Any]], None]
    log: RequestLog
    failed: Callable[[Mapping[str, Any]], None] = _nothing
    unreadable: int = 0
    began: float = field(default_factory=time.perf_counter)

    def run(self, event: Mapping[str, Any]) -> PartialItemFailureResponse:
        """Do all records of an event, and say which of them failed."""
        # A processor of its own: it holds records, and nothing of one tenant may stay for the next.
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
