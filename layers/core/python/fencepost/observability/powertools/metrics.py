"""Metrics of events. `Metric` lists all names, which dashboard and alarms refer to."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from http import HTTPStatus

from aws_lambda_powertools.metrics import MetricUnit

from fencepost.kernel.errors import ErrorCode
from fencepost.observability.domain.events import (
    AddressGuardEvent,
    AdmissionEvent,
    AuditFailedEvent,
    AuthorizationEvent,
    BatchEvent,
    DiagnosisEvent,
    DocumentsEvent,
    ErasureEvent,
    Event,
    IsolationEvent,
    JobEvent,
    KeySetEvent,
    LeaseEvent,
    LedgerEvent,
    ReconcileEvent,
    RequestEvent,
    TenantSessionEvent,
    UnexpectedErrorEvent,
)

NAMESPACE = "Fencepost"


class Metric(StrEnum):
    """All metrics of the namespace. Each has the dimension `service`; `OUTCOMES` also has `Outcome`."""

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
    ALLOWED = "AuthorizationsAllowed"
    DENIALS = "AuthorizationDenials"
    ORGANISATION_MISMATCHES = "OrganisationMismatches"
    ISOLATION_FINDINGS = "IsolationFindings"
    CACHE_KEY_FINDINGS = "CacheKeyFindings"
    EMPTY_RETRIEVALS = "EmptyRetrievals"
    DEGRADED_ANSWERS = "DegradedAnswers"
    ITEMS_FETCHED = "ItemsFetched"
    LEASES_BUSY = "LeasesBusy"
    LEASES_LOST = "LeasesLost"
    LEASE_WAIT = "LeaseWaitLatency"
    JOBS_DONE = "JobsDone"
    JOBS_REFUSED = "JobsRefused"
    JOBS_FAILED = "JobsFailed"
    JOB_AGE = "JobAgeLatency"
    BATCH_RECORDS = "BatchRecords"
    BATCH_FAILURES = "BatchFailures"
    ERASED_ITEMS = "ErasedItems"
    ERASURE_LEFTOVERS = "ErasureLeftovers"
    RECONCILED = "ReconciledOrganisations"
    VECTORS_WITHOUT_ROWS = "VectorsWithoutRows"
    ROWS_WITHOUT_VECTORS = "RowsWithoutVectors"
    WRONG_VERSIONS = "WrongVersions"
    WRONG_MODELS = "WrongModels"
    REPAIRS = "RepairsQueued"
    KEY_SET_FAULTS = "KeySetFaults"
    TENANT_SESSIONS = "TenantSessions"
    TENANT_SESSION_FAULTS = "TenantSessionFaults"
    DIAGNOSES = "DiagnosesOpened"
    DIAGNOSIS_LOOKS = "DiagnosisLooks"
    # One for each field of `StageTimings`; `TotalLatency` is that of chats, `ApiLatency` that of other requests.
    API_LATENCY = "ApiLatency"
    GUARD_LATENCY = "GuardLatency"
    AUTHENTICATE_LATENCY = "AuthenticateLatency"
    AUTHORIZE_LATENCY = "AuthorizeLatency"
    WAIT_LATENCY = "WaitLatency"
    CLAIM_LATENCY = "ClaimLatency"
    LOAD_LATENCY = "LoadLatency"
    RETRIEVE_LATENCY = "RetrieveLatency"
    REWRITE_LATENCY = "RewriteLatency"
    DOCUMENTS_LATENCY = "DocumentsLatency"
    ASSEMBLE_LATENCY = "AssembleLatency"
    RESERVE_LATENCY = "ReserveLatency"
    FIRST_TOKEN_LATENCY = "FirstTokenLatency"  # noqa: S105 - a metric's name, no password
    PROVIDER_LATENCY = "ProviderLatency"
    SETTLE_LATENCY = "SettleLatency"
    TOTAL_LATENCY = "TotalLatency"

    @property
    def unit(self) -> MetricUnit:
        """Unit of the metric: milliseconds, per cent of a cap, none for money, or a count."""
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

_JOBS = {"done": Metric.JOBS_DONE, "refused": Metric.JOBS_REFUSED, "failed": Metric.JOBS_FAILED}
_DOCUMENTS = {"stale_served": Metric.STALE_DOCUMENTS, "unavailable": Metric.MISSING_DOCUMENTS}
_DIAGNOSES = {"opened": Metric.DIAGNOSES, "looked": Metric.DIAGNOSIS_LOOKS}


def measures(event: Event) -> Iterator[Measure]:
    """Yield the measurements of an event. Times are in milliseconds, money in micro-dollars."""
    match event:
        case RequestEvent():
            yield from _of_request(event)
        case AdmissionEvent():
            yield from _of_admission(event)
        case LedgerEvent():
            yield from _of_ledger(event)
        case AuthorizationEvent():
            yield from _of_authorization(event)
        case LeaseEvent():
            yield from _of_lease(event)
        case JobEvent():
            yield from _of_job(event)
        case BatchEvent():
            yield Metric.COLD_STARTS, int(event.cold_start)
            yield Metric.BATCH_RECORDS, event.records
            yield Metric.BATCH_FAILURES, event.failed + event.unreadable
        case _:
            yield from _of_rarer(event)


def _of_rarer(event: Event) -> Iterator[Measure]:
    match event:
        case DocumentsEvent():
            if event.result in _DOCUMENTS:
                yield _DOCUMENTS[event.result], 1
        case ErasureEvent():
            yield Metric.ERASED_ITEMS, event.removed
            if event.result == "leftovers":
                yield Metric.ERASURE_LEFTOVERS, max(event.left, 1)
        case ReconcileEvent():
            yield from _of_reconciling(event)
        case IsolationEvent():
            yield Metric.ISOLATION_FINDINGS, 1
            yield Metric.CACHE_KEY_FINDINGS, int(event.finding != "organisation_mismatch")
        case DiagnosisEvent() if event.result in _DIAGNOSES:
            yield _DIAGNOSES[event.result], 1
        case _:
            yield from _of_fault(event)


def _of_fault(event: Event) -> Iterator[Measure]:
    match event:
        case AddressGuardEvent():
            yield (Metric.ADDRESS_DENIALS if event.decision == "denied" else Metric.FAILED_CLOSED), 1
        case KeySetEvent() if event.result == "unavailable":
            yield Metric.KEY_SET_FAULTS, 1
        case TenantSessionEvent():
            yield (Metric.TENANT_SESSIONS if event.result == "assumed" else Metric.TENANT_SESSION_FAULTS), 1
        case AuditFailedEvent():
            yield Metric.AUDIT_FAILURES, 1
        case UnexpectedErrorEvent():
            yield Metric.UNEXPECTED_ERRORS, 1


def _of_request(event: RequestEvent) -> Iterator[Measure]:
    yield Metric.COLD_STARTS, int(event.cold_start)
    if event.outcome == "preflight":
        # Preflights are excluded, since they would lower the rates of failures.
        return
    yield Metric.REQUESTS, 1
    # Zeros make rates and averages right for requests without failures.
    yield Metric.FAILURES, int(event.status >= HTTPStatus.INTERNAL_SERVER_ERROR)
    yield Metric.PROVIDER_ERRORS, int(event.outcome in _PROVIDER_ERRORS)
    if event.outcome == "answered":
        yield Metric.CACHE_HITS, int(event.cache_hit)
        yield Metric.DEGRADED_ANSWERS, int(event.degraded)
    if event.fetched is not None:
        fetched = event.fetched
        counts = (fetched.messages, fetched.facts, fetched.summary_lines, fetched.attachments, fetched.sections)
        yield Metric.ITEMS_FETCHED, sum(counts)
        yield Metric.EMPTY_RETRIEVALS, int(fetched.sections_available > 0 and fetched.sections == 0)
    yield from _of_stages(event)


def _of_stages(event: RequestEvent) -> Iterator[Measure]:
    for stage, milliseconds in event.stages:
        if stage == "total" and event.outcome == "done":
            yield Metric.API_LATENCY, milliseconds
        elif milliseconds is not None:
            yield Metric[f"{stage.upper()}_LATENCY"], milliseconds


def _of_authorization(event: AuthorizationEvent) -> Iterator[Measure]:
    yield Metric.ALLOWED, int(event.decision == "allowed")
    yield Metric.DENIALS, int(event.decision == "denied")
    if event.reason == "organisation_mismatch":
        yield Metric.ORGANISATION_MISMATCHES, 1


def _of_lease(event: LeaseEvent) -> Iterator[Measure]:
    yield Metric.LEASE_WAIT, event.waited_milliseconds
    yield Metric.LEASES_BUSY, int(event.result == "busy")
    if event.result == "lost":
        yield Metric.LEASES_LOST, 1


def _of_job(event: JobEvent) -> Iterator[Measure]:
    if event.result in _JOBS:
        yield _JOBS[event.result], 1
    if event.result == "done" and event.age_milliseconds is not None:
        yield Metric.JOB_AGE, event.age_milliseconds
    if event.code is ErrorCode.BUNDLE_FOREIGN:
        yield Metric.ORGANISATION_MISMATCHES, 1


def _of_reconciling(event: ReconcileEvent) -> Iterator[Measure]:
    yield Metric.RECONCILED, event.organisations
    yield Metric.VECTORS_WITHOUT_ROWS, event.vectors_without_rows
    yield Metric.ROWS_WITHOUT_VECTORS, event.rows_without_vectors
    yield Metric.WRONG_VERSIONS, event.wrong_versions
    yield Metric.WRONG_MODELS, event.wrong_models
    yield Metric.REPAIRS, event.repairs


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
