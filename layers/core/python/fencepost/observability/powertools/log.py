"""Events as JSON log lines and as metrics in CloudWatch's embedded format, both by Powertools."""

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
    """Let nobody else write to the log.

    Libraries quote what they were given, in warnings above all (pydantic's name the offending value), and the
    promise is that no visitor's word is ever logged. What an operator must know is an event of the table.
    """
    warnings.simplefilter("ignore")
    logging.getLogger().setLevel(logging.CRITICAL)


class LambdaEvents:
    """The `Events` port of a Lambda function. One instance serves one invocation after another, never two at once.

    Args:
        service: names the log lines and is the metrics' dimension. Powertools keeps one handler for each name, so
            instances of the same name write to the standard output that the first one found.
    """

    def __init__(self, service: str = "fencepost") -> None:
        self._service = service
        # The location would be a line of this module, always.
        self._logger = Logger(service=service, level="INFO", utc=True, use_rfc3339=True, location=None)
        self._metrics = EphemeralMetrics(namespace=NAMESPACE, service=service)
        self._cold = True

    def begin(self, request_id: str) -> None:
        """Start an invocation: its id, made by the gateway, goes into each line until the next one starts."""
        self._logger.set_correlation_id(request_id)

    def emit(self, event: Event) -> None:
        """Log the event and measure it. The last of an invocation, a request's or a batch's, flushes the metrics."""
        if isinstance(event, RequestEvent | BatchEvent):
            event = event.model_copy(update={"cold_start": self._cold})
            self._cold = False
        self._write(event)
        for metric, value in measures(event):
            self._metrics.add_metric(metric.value, metric.unit, value)
        if isinstance(event, RequestEvent | BatchEvent):
            self._metrics.flush_metrics()
        if isinstance(event, RequestEvent):
            self._count_outcome(event)

    def log_unexpected(self, error: BaseException) -> None:
        """Log a fault of ours by its class and the line of our code that it passed last: never its text."""
        self.emit(UnexpectedErrorEvent(kind=type(error).__name__, raised_at=_position(error)))

    def _write(self, event: Event) -> None:
        fields = event.model_dump(mode="json", exclude_none=True)
        if isinstance(event, UnexpectedErrorEvent):
            self._logger.error(event.event, extra=fields)
        elif _is_warning(event):
            self._logger.warning(event.event, extra=fields)
        else:
            self._logger.info(event.event, extra=fields)

    def _count_outcome(self, event: RequestEvent) -> None:
        name = Metric.OUTCOMES
        with single_metric(name.value, name.unit, 1, namespace=NAMESPACE) as outcome:
            outcome.add_dimension("service", self._service)
            outcome.add_dimension("Outcome", str(event.outcome))


def _is_warning(event: Event) -> bool:
    verdicts = {getattr(event, "decision", None), getattr(event, "result", None)}
    return bool(verdicts & _WARNINGS) or event.event in _WARNING_EVENTS


def _position(error: BaseException) -> str:
    """Return `chat.py:42`: the innermost frame that is ours, or the innermost of all."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "unknown"
    ours = [frame for frame in frames if {"fencepost", "functions"} & set(PurePath(frame.filename).parts)]
    frame = (ours or frames)[-1]
    return f"{PurePath(frame.filename).name}:{frame.lineno}"
