"""The closed table of all events that may be logged, and of audit records.

No field can hold a prompt, an answer, an address, its hash, a key or a table's name. Fields are numbers, enums, fixed
words, ids of public documents, and pseudonyms (`fencepost.observability.domain.pseudonyms`) of all other ids.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from fencepost.identity.domain.scope import Action, DenialReason
from fencepost.kernel.clock import Window
from fencepost.kernel.errors import ErrorCode, UnreachableReason
from fencepost.observability.domain.event_parts import Fetched, Loggable, RouteName, SourceId, StageTimings, Subject
from fencepost.queue.domain import Purpose


class AdmissionEvent(Loggable):
    """A decision of the daily caps.

    For an admitted call, `count` is its number in the day, and `committed_microdollars` the day's settled and reserved
    money including the call.
    """

    event: Literal["admission"] = "admission"
    decision: Literal["admitted", "denied", "failed_closed"]
    cap: Literal["calls", "spend"] | None = None
    utc_day: date
    call_limit: int
    spend_limit_microdollars: int
    count: int | None = None
    committed_microdollars: int | None = None


class AddressGuardEvent(Loggable):
    """A request that the per-address limits refused."""

    event: Literal["address_guard"] = "address_guard"
    decision: Literal["denied", "failed_closed"]
    window: Window | None = None


type Outcome = ErrorCode | Literal["answered", "done", "demo", "preflight"]


class RequestEvent(Loggable):
    """The end of a request.

    `outcome` is `answered` for an answer of the model, `done` for other requests, `demo`, `preflight` or an error code.
    `prompt_version` is that of the system prompt, if a prompt was assembled.
    """

    event: Literal["request"] = "request"
    outcome: Outcome
    status: int
    stages: StageTimings
    route: RouteName | None = None
    subject: Subject | None = None
    fetched: Fetched | None = None
    degraded: bool = False
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    cost_microdollars: int = 0
    cache_hit: bool = False
    prompt_version: str | None = None
    sources: tuple[SourceId, ...] = ()
    cited: tuple[SourceId, ...] = ()
    cold_start: bool = False


type ArchiveFault = Literal["read_failed", "corrupt", "write_failed"]


class DocumentsEvent(Loggable):
    """A fetch of the site's documents, or a failure of their archive."""

    event: Literal["documents"] = "documents"
    result: Literal["fetched", "unchanged", "stale_served", "unavailable", "archive_failed"]
    reason: UnreachableReason | ArchiveFault | None = None
    sections: int | None = None
    size_bytes: int | None = None


class LedgerEvent(Loggable):
    """A settlement in the ledger, or its failure.

    `kept`: a call of unknown cost stays counted at its worst case. `overrun`: the cost exceeded its reservation.
    """

    event: Literal["ledger"] = "ledger"
    result: Literal["settled", "kept", "overrun", "settle_failed"]
    utc_day: date
    reserved_microdollars: int
    actual_microdollars: int | None = None


class AuthorizationEvent(Loggable):
    """An authorisation decision. Its `reason` is never sent to the client.

    `at` is when it was made: at the beginning of a request, between a turn's claim and its prompt, or when a job ran.
    Without an `action`, the caller was denied the organisation of the request.
    """

    event: Literal["authorization"] = "authorization"
    decision: Literal["allowed", "denied"]
    action: Action | None = None
    caller: Literal["visitor", "member", "operator"] | None = None
    at: Literal["request", "turn", "job"] = "request"
    reason: DenialReason | None = None
    permission_version: int | None = None
    subject: Subject | None = None


class KeySetEvent(Loggable):
    """A fetch of the OpenID provider's keys. `unknown_key`: a token names a key that is not among them."""

    event: Literal["key_set"] = "key_set"
    result: Literal["fetched", "unavailable", "unknown_key"]
    keys: int | None = None


class LeaseEvent(Loggable):
    """The result of a turn's lease acquisition.

    `joined`: a retry waited for its own running turn. `resumed`: a retry took over its own dead turn. `parked`: the
    question of another dead turn was set aside first. `lost`: the lease expired before the answer was stored.
    """

    event: Literal["lease"] = "lease"
    result: Literal["taken", "joined", "resumed", "parked", "busy", "lost"]
    waited_milliseconds: float = 0
    attempts: int = 1
    subject: Subject | None = None


type JobRefusal = DenialReason | Literal["site_inactive", "incarnation_changed", "conversation_gone", "owner_erased"]


class JobEvent(Loggable):
    """The result of a job. `refused`: it was not allowed when it ran. `superseded`: there was nothing to do."""

    event: Literal["job"] = "job"
    purpose: Purpose
    result: Literal["queued", "done", "superseded", "refused", "retried", "failed", "unreadable"]
    reason: JobRefusal | None = None
    code: ErrorCode | None = None
    attempt: int | None = None
    age_milliseconds: float | None = None
    milliseconds: float | None = None
    subject: Subject | None = None


class BatchEvent(Loggable):
    """The end of an invocation for a stream, a queue or the schedule.

    It has the numbers of records, of those that will be delivered again, and of those that cannot be read. For
    `schedule` and `reconcile`, records are the jobs that were queued, and `failed` is 1 if the task failed.
    """

    event: Literal["batch"] = "batch"
    source: Literal["stream", "queue", "schedule", "reconcile"]
    records: int
    failed: int
    unreadable: int = 0
    milliseconds: float
    cold_start: bool = False


class ReconcileEvent(Loggable):
    """Counts of one run of the reconciler.

    `organisations`: those whose comparison was completed. `reads`: requests to index and tables. `repairs`: jobs that
    were queued.
    """

    event: Literal["reconcile"] = "reconcile"
    organisations: int = 0
    pages: int = 0
    reads: int = 0
    vectors_without_rows: int = 0
    rows_without_vectors: int = 0
    wrong_versions: int = 0
    wrong_models: int = 0
    repairs: int = 0


class ErasureEvent(Loggable):
    """A step of an erasure. `leftovers`: the verification found data that should have been removed."""

    event: Literal["erasure"] = "erasure"
    result: Literal["forgotten", "swept", "verified", "leftovers"]
    what: Literal["conversation", "owner"]
    removed: int = 0
    left: int = 0
    subject: Subject | None = None


class IsolationEvent(Loggable):
    """Data of another tenant that a second check found and withheld, although the first check should have.

    `organisation_mismatch`: a row, an object or a bundle names another organisation than the scope that read it.
    `cache_key`: a cached entry had another key than its own. `tenant_session`: so had a session of the tenant role.
    """

    event: Literal["isolation"] = "isolation"
    finding: Literal["organisation_mismatch", "cache_key", "tenant_session"]
    subject: Subject | None = None


class TenantSessionEvent(Loggable):
    """A session of the tenant role was assumed for an organisation, or could not be."""

    event: Literal["tenant_session"] = "tenant_session"
    result: Literal["assumed", "unavailable"]
    milliseconds: float
    subject: Subject | None = None


class DiagnosisEvent(Loggable):
    """A step of an admin's diagnosis of a conversation. The admin's reason is in the diagnosis' row only."""

    event: Literal["diagnosis"] = "diagnosis"
    result: Literal["opened", "looked", "closed", "ended"]
    minutes: int | None = None
    looks: int | None = None
    subject: Subject | None = None


class AuditFailedEvent(Loggable):
    """An audit record could not be stored. The request is not affected."""

    event: Literal["audit_failed"] = "audit_failed"


class UnexpectedErrorEvent(Loggable):
    """An unexpected exception: its class and line of code. Its text is dropped, since it may quote user content."""

    event: Literal["unexpected_error"] = "unexpected_error"
    kind: Annotated[str, Field(pattern=r"^\w+$")]
    raised_at: Annotated[str, Field(pattern=r"^[\w.<> -]+(:\d+)?$")]


Event = (
    AdmissionEvent
    | AddressGuardEvent
    | RequestEvent
    | DocumentsEvent
    | LedgerEvent
    | AuthorizationEvent
    | KeySetEvent
    | LeaseEvent
    | JobEvent
    | BatchEvent
    | ReconcileEvent
    | ErasureEvent
    | IsolationEvent
    | TenantSessionEvent
    | DiagnosisEvent
    | AuditFailedEvent
    | UnexpectedErrorEvent
)


class AuditRecord(Loggable):
    """An audit record of a request: its time, outcome and error code."""

    time: datetime
    outcome: Literal["answered", "done", "demo", "preflight", "refused", "failed"]
    reason: ErrorCode | None = None
