"""What each event adds to the metrics. The names stand in one table, which dashboard and alarms refer to."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from http import HTTPStatus

from aws_lambda_powertools.metrics import MetricUnit

from fencepost.domain.errors import ErrorCode
from fencepost.domain.events import (
    AddressGuardEvent,
    AdmissionEvent,
    AuditFailedEvent,
    DocumentsEvent,
    Event,
    LedgerEvent,
    RequestEvent,
    UnexpectedErrorEvent,
)

NAMESPACE = "Fencepost"


class Metric(StrEnum):
    """Every metric of the namespace, with the dimension `service`; `OUTCOMES` has the dimension `Outcome` as well."""

    REQUESTS = "Requests"
    OUTCOMES = "Outcomes"
    FAILURES = "Failures"
    PROVIDER_ERRORS = "ProviderErrors"
    UNEXPECTED_ERRORS = "UnexpectedErrors"
    COLD_STARTS = "ColdStarts"
    CACHE_HITS = "CacheHits"
    ADDRESS_DENIALS = "AddressDenials"
    CAP_DENIALS = "CapDenials"
    FAILED_CLOSED = "FailedClosed"
    CALL_CAP_USED = "CallCapUsed"
    SPEND_CAP_USED = "SpendCapUsed"
    COMMITTED_TODAY = "CommittedTodayMicrodollars"
    SPEND = "SpendMicrodollars"
    LEDGER_FAULTS = "LedgerFaults"
    UNKNOWN_COSTS = "UnknownCosts"
    STALE_DOCUMENTS = "StaleDocuments"
    MISSING_DOCUMENTS = "MissingDocuments"
    AUDIT_FAILURES = "AuditFailures"
    # One for each field of `StageTimings`.
    GUARD_LATENCY = "GuardLatency"
    DOCUMENTS_LATENCY = "DocumentsLatency"
    ASSEMBLE_LATENCY = "AssembleLatency"
    RESERVE_LATENCY = "ReserveLatency"
    FIRST_TOKEN_LATENCY = "FirstTokenLatency"  # noqa: S105 - a metric's name, no password
    PROVIDER_LATENCY = "ProviderLatency"
    SETTLE_LATENCY = "SettleLatency"
    TOTAL_LATENCY = "TotalLatency"

    @property
    def unit(self) -> MetricUnit:
        """Milliseconds for latencies, per cent of a cap, none for money, and counts otherwise."""
        suffixes = {
            "Latency": MetricUnit.Milliseconds,
            "CapUsed": MetricUnit.Percent,
            "Microdollars": MetricUnit.NoUnit,
        }
        return next((unit for suffix, unit in suffixes.items() if self.value.endswith(suffix)), MetricUnit.Count)


type Measure = tuple[Metric, float]

_PROVIDER_ERRORS = frozenset(
    {
        ErrorCode.PROVIDER_OVERLOADED,
        ErrorCode.PROVIDER_TIMEOUT,
        ErrorCode.PROVIDER_REJECTED,
        ErrorCode.PROVIDER_FAILED,
    }
)


def measures(event: Event) -> Iterator[Measure]:
    """Yield what the event adds. Counts come as 1, times in milliseconds, money in micro-dollars."""
    match event:
        case RequestEvent():
            yield from _of_request(event)
        case AdmissionEvent():
            yield from _of_admission(event)
        case AddressGuardEvent():
            yield (Metric.ADDRESS_DENIALS if event.decision == "denied" else Metric.FAILED_CLOSED), 1
        case LedgerEvent():
            yield from _of_ledger(event)
        case DocumentsEvent():
            yield from _of_documents(event)
        case AuditFailedEvent():
            yield Metric.AUDIT_FAILURES, 1
        case UnexpectedErrorEvent():
            yield Metric.UNEXPECTED_ERRORS, 1


def _of_request(event: RequestEvent) -> Iterator[Measure]:
    yield Metric.COLD_STARTS, int(event.cold_start)
    if event.outcome == "preflight":
        # No question: it would only thin out the rates.
        return
    yield Metric.REQUESTS, 1
    # Zeros make rates and averages right where nothing failed.
    yield Metric.FAILURES, int(event.status >= HTTPStatus.INTERNAL_SERVER_ERROR)
    yield Metric.PROVIDER_ERRORS, int(event.outcome in _PROVIDER_ERRORS)
    if event.outcome == "answered":
        yield Metric.CACHE_HITS, int(event.cache_hit)
    for stage, milliseconds in event.stages:
        if milliseconds is not None:
            yield Metric[f"{stage.upper()}_LATENCY"], milliseconds


def _of_admission(event: AdmissionEvent) -> Iterator[Measure]:
    if event.decision != "admitted":
        yield (Metric.CAP_DENIALS if event.decision == "denied" else Metric.FAILED_CLOSED), 1
    if event.count is not None:
        yield Metric.CALL_CAP_USED, _per_cent(event.count, event.call_limit)
    if event.committed_microdollars is not None:
        yield Metric.COMMITTED_TODAY, event.committed_microdollars
        yield Metric.SPEND_CAP_USED, _per_cent(event.committed_microdollars, event.spend_limit_microdollars)


def _per_cent(part: int, whole: int) -> float:
    return 100 * part / max(whole, 1)


def _of_ledger(event: LedgerEvent) -> Iterator[Measure]:
    known = None if event.result == "settle_failed" else event.actual_microdollars
    yield Metric.SPEND, event.reserved_microdollars if known is None else known
    if event.result == "kept":
        yield Metric.UNKNOWN_COSTS, 1
    elif event.result != "settled":
        yield Metric.LEDGER_FAULTS, 1


def _of_documents(event: DocumentsEvent) -> Iterator[Measure]:
    if event.result == "stale_served":
        yield Metric.STALE_DOCUMENTS, 1
    elif event.result == "unavailable":
        yield Metric.MISSING_DOCUMENTS, 1
