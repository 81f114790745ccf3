"""Everything that may be logged or audited: a closed table of models.

No field can hold a prompt, an answer, an address, its hash, a key or a table's name: fields are numbers, enums,
fixed words and ids of public documents.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fencepost.domain.errors import ErrorCode, UnreachableReason
from fencepost.domain.limits import Window


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AdmissionEvent(_Event):
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


class AddressGuardEvent(_Event):
    """A request that the per-address limits turned away."""

    event: Literal["address_guard"] = "address_guard"
    decision: Literal["denied", "failed_closed"]
    window: Window | None = None


class StageTimings(_Event):
    """Milliseconds spent in each stage of a request; None where it was not reached."""

    guard: float | None = None
    documents: float | None = None
    assemble: float | None = None
    reserve: float | None = None
    first_token: float | None = None
    provider: float | None = None
    settle: float | None = None
    total: float


class RequestEvent(_Event):
    """How one request ended. `outcome` is `answered`, `demo`, `preflight` or an error code.

    `prompt_version` is that of the system prompt, where a prompt was put together.
    """

    event: Literal["request"] = "request"
    outcome: ErrorCode | Literal["answered", "demo", "preflight"]
    status: int
    stages: StageTimings
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    cost_microdollars: int = 0
    cache_hit: bool = False
    prompt_version: str | None = None
    sources: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    cold_start: bool = False


type ArchiveFault = Literal["read_failed", "corrupt", "write_failed"]


class DocumentsEvent(_Event):
    """A fetch of the site's documents, or a failure of their archive."""

    event: Literal["documents"] = "documents"
    result: Literal["fetched", "unchanged", "stale_served", "unavailable", "archive_failed"]
    reason: UnreachableReason | ArchiveFault | None = None
    sections: int | None = None
    size_bytes: int | None = None


class LedgerEvent(_Event):
    """Something an operator must know about the bill.

    `kept`: a call of unknown cost stays counted at its worst case. `overrun`: an actual cost above its reservation.
    """

    event: Literal["ledger"] = "ledger"
    result: Literal["settled", "kept", "overrun", "settle_failed"]
    utc_day: date
    reserved_microdollars: int
    actual_microdollars: int | None = None


class AuditFailedEvent(_Event):
    """An audit item could not be stored. The request is not affected."""

    event: Literal["audit_failed"] = "audit_failed"


class UnexpectedErrorEvent(_Event):
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
    | AuditFailedEvent
    | UnexpectedErrorEvent
)


class AuditRecord(_Event):
    """One audit item: when, how it ended, and why."""

    time: datetime
    outcome: Literal["answered", "demo", "preflight", "refused", "failed"]
    reason: ErrorCode | None = None
