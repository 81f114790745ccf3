"""Write events as JSON log lines, and as metrics in CloudWatch's embedded format, with Powertools."""

from __future__ import annotations

import logging
import traceback
import warnings
from pathlib import PurePath

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, single_metric

from fencepost.observability.domain.events import BatchEvent, Event, RequestEvent, UnexpectedErrorEvent
from fencepost.observability.powertools.metrics import NAMESPACE, Metric, measures

_WARNINGS = frozenset(
    {
        "failed_closed",
        "kept",
        "overrun",
        "settle_failed",
        "stale_served",
        "unavailable",
        "archive_failed",
        "lost",
        "refused",
        "failed",
        "unreadable",
        "leftovers",
    }
)
_WARNING_EVENTS = frozenset({"audit_failed", "isolation"})


def silence_libraries() -> None:
    """Disable warnings and log lines of libraries.

    They may quote user content, as pydantic's warnings do, which must never be logged. Everything that operators must
    know is an event of the table.
    """
    warnings.simplefilter("ignore")
    logging.getLogger().setLevel(logging.CRITICAL)


class LambdaEvents:
    """Implements `fencepost.observability.ports.RequestLog` for a Lambda function. Not safe for concurrent invocations.

    Args:
        service: name in log lines, and dimension of metrics. Powertools keeps one handler for each name, so instances
            of the same name write to the standard output that the first one found.
    """

    def __init__(self, service: str = "fencepost") -> None:
        self._service = service
        # Without the location, which would always be a line of this module.
        self._logger = Logger(service=service, level="INFO", utc=True, use_rfc3339=True, location=None)
        self._metrics = EphemeralMetrics(namespace=NAMESPACE, service=service)
        self._cold = True

    def begin(self, request_id: str) -> None:
        """Start an invocation. Its id, made by the gateway, goes into each line until the next one starts."""
        self._logger.set_correlation_id(request_id)

    def emit(self, event: Event) -> None:
        """Log an event and add its metrics. The event that ends an invocation flushes them."""
        if isinstance(event, RequestEvent | BatchEvent):
            event = event.model_copy(update={"cold_start": self._cold})
            self._cold = False
        self._write(event)
        for metric, value in measures(event):
            self._metrics.add_metric(metric.value, metric.unit, value)
        if isinstance(event, RequestEvent | BatchEvent):
            self._metrics.flush_metrics()
        if isinstance(event, RequestEvent):
            name = Metric.OUTCOMES
            with single_metric(name.value, name.unit, 1, namespace=NAMESPACE) as outcome:
                outcome.add_dimension("service", self._service)
                outcome.add_dimension("Outcome", str(event.outcome))

    def log_unexpected(self, error: BaseException) -> None:
        """Log an exception by its class and the innermost line of Fencepost's code, never by its text."""
        self.emit(UnexpectedErrorEvent(kind=type(error).__name__, raised_at=_position(error)))

    def _write(self, event: Event) -> None:
        fields = event.model_dump(mode="json", exclude_none=True)
        verdicts = {getattr(event, "decision", None), getattr(event, "result", None)}
        if isinstance(event, UnexpectedErrorEvent):
            self._logger.error(event.event, extra=fields)
        elif verdicts & _WARNINGS or event.event in _WARNING_EVENTS:
            self._logger.warning(event.event, extra=fields)
        else:
            self._logger.info(event.event, extra=fields)


def _position(error: BaseException) -> str:
    """Return file and line of the innermost frame of Fencepost's code, or of the innermost frame, as `chat.py:42`."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "unknown"
    ours = [frame for frame in frames if {"fencepost", "functions"} & set(PurePath(frame.filename).parts)]
    frame = (ours or frames)[-1]
    return f"{PurePath(frame.filename).name}:{frame.lineno}"
