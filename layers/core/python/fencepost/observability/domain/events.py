"""Everything that may be logged or audited: a closed table of models.

No field can hold a prompt, an answer, an address, its hash, a key or a table's name: fields are numbers, enums,
fixed words, ids of public documents, and pseudonyms (`fencepost.observability.domain.pseudonyms`) of all other ids.
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
    """The daily caps' decision.

    Where a call was admitted, `count` is its number in its day, and `committed_microdollars` what the day has spent
    and reserved with it.
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
    """A request that the per-address limits turned away."""

    event: Literal["address_guard"] = "address_guard"
    decision: Literal["denied", "failed_closed"]
    window: Window | None = None


type Outcome = ErrorCode | Literal["answered", "done", "demo", "preflight"]


class RequestEvent(Loggable):
    """How one request ended.

    `outcome` is `answered` where the model answered, `done` where something else was asked for, `demo`, `preflight` or
    an error code. `prompt_version` is that of the system prompt, where a prompt was put together.
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
    """Something an operator must know about the bill.

    `kept`: a call of unknown cost stays counted at its worst case. `overrun`: an actual cost above its reservation.
    """

    event: Literal["ledger"] = "ledger"
    result: Literal["settled", "kept", "overrun", "settle_failed"]
    utc_day: date
    reserved_microdollars: int
    actual_microdollars: int | None = None


class AuthorizationEvent(Loggable):
    """A decision on what somebody may reach. Its `reason` is never told to them.

    `at` is when it was made: as a request came, again between a turn's claim and its prompt, or as a job ran. Without
    `action`, the organisation that a request chose was refused.
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
    """The OpenID provider's keys were fetched, or could not be. `unknown_key`: a token names one that is not there."""

    event: Literal["key_set"] = "key_set"
    result: Literal["fetched", "unavailable", "unknown_key"]
    keys: int | None = None


class LeaseEvent(Loggable):
    """How a turn came by its conversation's lease, or did not.

    `joined`: a retry waited for its own running turn. `resumed`: a retry took over its dead turn. `parked`: the
    question of another dead turn was put aside first. `lost`: the lease ended before the answer could be stored.
    """

    event: Literal["lease"] = "lease"
    result: Literal["taken", "joined", "resumed", "parked", "busy", "lost"]
    waited_milliseconds: float = 0
    attempts: int = 1
    subject: Subject | None = None


type JobRefusal = DenialReason | Literal["site_inactive", "incarnation_changed", "conversation_gone", "owner_erased"]


class JobEvent(Loggable):
    """What became of a job. `refused`: it was not allowed any more as it ran. `superseded`: there was nothing to do."""

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

    It says how many records came, will come again, and are no jobs. The schedule's records, and the reconciler's, are
    the jobs that it queued, and it `failed` once where it did not come to its end.
    """

    event: Literal["batch"] = "batch"
    source: Literal["stream", "queue", "schedule", "reconcile"]
    records: int
    failed: int
    unreadable: int = 0
    milliseconds: float
    cold_start: bool = False


class ReconcileEvent(Loggable):
    """What one run of the reconciler looked at and found. `repairs`: the jobs that it queued.

    `organisations` are those that it came to the end of; it read from index and tables so many times.
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
    """A step of an erasure. `leftovers`: the verifier found what should be gone."""

    event: Literal["erasure"] = "erasure"
    result: Literal["forgotten", "swept", "verified", "leftovers"]
    what: Literal["conversation", "owner"]
    removed: int = 0
    left: int = 0
    subject: Subject | None = None


class IsolationEvent(Loggable):
    """A second look found what the first wall should have stopped, and stopped it.

    `organisation_mismatch`: a row, an object or a bundle names another organisation than the scope that read it.
    `cache_key`: a cached piece lay under a key that is not its own. `tenant_session`: so did a role's session.
    """

    event: Literal["isolation"] = "isolation"
    finding: Literal["organisation_mismatch", "cache_key", "tenant_session"]
    subject: Subject | None = None


class TenantSessionEvent(Loggable):
    """A session of the tenant role was assumed for one organisation, or was not to be had."""

    event: Literal["tenant_session"] = "tenant_session"
    result: Literal["assumed", "unavailable"]
    milliseconds: float
    subject: Subject | None = None


class DiagnosisEvent(Loggable):
    """An admin's look into one conversation. The reason that they gave is in the diagnosis' own row, not here."""

    event: Literal["diagnosis"] = "diagnosis"
    result: Literal["opened", "looked", "closed", "ended"]
    minutes: int | None = None
    looks: int | None = None
    subject: Subject | None = None


class AuditFailedEvent(Loggable):
    """An audit item could not be stored. The request is not affected."""

    event: Literal["audit_failed"] = "audit_failed"


class UnexpectedErrorEvent(Loggable):
    """A fault of ours. Its class and the line of our code are kept; its text may quote a visitor and is not."""

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
    """One audit item: when, how it ended, and why."""

    time: datetime
    outcome: Literal["answered", "done", "demo", "preflight", "refused", "failed"]
    reason: ErrorCode | None = None
