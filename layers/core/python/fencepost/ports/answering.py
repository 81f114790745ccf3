"""What an answer needs: limits, the bill, documents, the model, and where events go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, Protocol

from fencepost.domain.documents import DocumentSet, Section
from fencepost.domain.ledger import Closing, Lease
from fencepost.domain.limits import Caps, RateLimits, Reservation
from fencepost.domain.money import MicroDollars, Usage
from fencepost.domain.prompt import Prompt

if TYPE_CHECKING:
    from fencepost.domain.events import AuditRecord, Event


class Clock(Protocol):
    """The current time, aware, in UTC."""

    def __call__(self) -> datetime:
        """Return now."""
        ...


class AddressLimiter(Protocol):
    """Counts one request of a client address in its minute and its day, for each counter apart."""

    def admit(self, address: str, limits: RateLimits, now: datetime) -> None:
        """Count the request.

        Args:
            address: the canonical form made by `fencepost.domain.addresses.canonical`.

        Raises:
            FencepostError: `rate_limited_minute` or `rate_limited_day` with `retry_after`, and nothing is counted;
                `rate_limit_unavailable` when the store does not answer: fail closed.
        """
        ...


class Ledger(Protocol):
    """The day's bill. For each day, spent + reserved never exceeds the cap in force when it was reserved."""

    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        """Take one call permit and set aside its worst case.

        Raises:
            FencepostError: `daily_calls_exhausted` or `daily_spend_exhausted` with `retry_after`;
                `ledger_unavailable` when the store does not answer: fail closed.
        """
        ...

    def settle(self, reservation: Reservation, actual: MicroDollars) -> None:
        """Turn the reservation into its actual cost. Settling twice changes nothing.

        Raises:
            FencepostError: `ledger_unavailable`; the reservation then stays counted as spent.
            ValueError: a negative cost, which would make room under the cap. The reservation stays, too.
        """
        ...

    def cancel(self, reservation: Reservation) -> None:
        """Give permit and money back: no call was made. Cancelling twice, or what was settled, changes nothing.

        Raises:
            FencepostError: `ledger_unavailable`; the reservation then stays counted as spent.
        """
        ...


class BlockLedger(Ledger, Protocol):
    """A ledger that also gives out permits by the block (docs/adr/0005)."""

    def lease(self, permits: int, amount: MicroDollars, caps: Caps, now: datetime) -> Lease:
        """Take up to so many permits with `amount` each: as many as still fit under both caps, at least one.

        Raises:
            FencepostError: as `reserve` does.
        """
        ...

    def close(self, lease: Lease, closing: Closing) -> None:
        """Give back what a lease did not use. Closing twice changes nothing.

        Raises:
            FencepostError: `ledger_unavailable`; the lease then stays counted as spent.
        """
        ...


@dataclass(frozen=True, slots=True)
class Validators:
    """What a conditional request sends back: `ETag` and `Last-Modified` as they came."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A fetched file, decoded, with its validators, and the media type that it came as."""

    text: str
    validators: Validators
    media_type: str = "text/plain"


class DocumentFetcher(Protocol):
    """Reads the site's `llms-full.txt` over the network."""

    def fetch(self, url: str, known: Validators) -> RawDocument | None:
        """Return the file, or None when it has not changed since `known`.

        Raises:
            DocumentsUnreachable: it cannot be had, is too large, is no text, or its address is refused.
        """
        ...


@dataclass(frozen=True, slots=True)
class ArchivedDocument:
    """A copy of the file. `confirmed_at` is when the site last sent it, or said that it had not changed."""

    document: RawDocument
    confirmed_at: datetime


class DocumentArchive(Protocol):
    """The last good copy of a site's file, shared by all instances."""

    def load(self, url: str) -> ArchivedDocument | None:
        """Return the stored copy, or None. A failure is the adapter's to report, and is None too."""
        ...

    def save(self, url: str, copy: ArchivedDocument) -> None:
        """Store a copy. A failure is the adapter's to report; the turn goes on."""
        ...


class DocumentLibrary(Protocol):
    """The documents that answers draw on."""

    def current(self, now: datetime) -> DocumentSet:
        """Return the newest set that can be had, a stale one where the site does not answer.

        Raises:
            FencepostError: `documents_unavailable` when there is none at all; `misconfigured` without a site.
        """
        ...


class SectionRanker(Protocol):
    """Orders sections by relevance to a question."""

    def rank(self, query: str, documents: DocumentSet) -> list[Section]:
        """Return the sections that match at all, the most relevant first. Deterministic."""
        ...


@dataclass(frozen=True, slots=True)
class Completion:
    """A complete answer of the model.

    Attributes:
        text: what it wrote; never empty.
        usage: what the provider counted; None where it did not say, or said what cannot be: the reservation is kept.
        first_token_seconds: from the call to the first text.
    """

    text: str
    usage: Usage | None
    first_token_seconds: float


class Model(Protocol):
    """The language model. One call of `complete` is one request to the provider, never more."""

    def complete(self, prompt: Prompt, *, within: float = inf) -> Completion:
        """Ask the model.

        Args:
            prompt: the whole of it.
            within: seconds that are left for the call. The adapter's own timeout holds as well.

        Raises:
            ModelError: with the code to answer, and the usage where the provider's charge is known
                (`fencepost.domain.model_errors`).
        """
        ...


class Events(Protocol):
    """Where structured events go: logs and metrics."""

    def emit(self, event: Event) -> None:
        """Write the event. Never raises."""
        ...


class AuditTrail(Protocol):
    """A short record of each admitted request, kept for seven days."""

    def record(self, entry: AuditRecord) -> None:
        """Store the entry. Never raises: an audit that fails is an event, not an error."""
        ...


class Keys(Protocol):
    """Secrets, cached for minutes, so that a rotated one is followed without a deployment."""

    def derive(self, purpose: str) -> bytes:
        """Return 32 bytes derived from the signing secret for this purpose alone (HKDF-SHA256, RFC 5869).

        Raises:
            FencepostError: `misconfigured` when the secret cannot be read.
        """
        ...

    def ring(self, purpose: str, *, anew: bool = False) -> tuple[bytes, ...]:
        """Return the keys of a purpose under the current signing secret and the one before it, the current one first.

        Args:
            purpose: as in `derive`.
            anew: read past the cache: something was signed with a key that none of these is.

        Raises:
            FencepostError: `misconfigured` when a secret cannot be read.
        """
        ...

    def provider_key(self) -> str:
        """Return the provider's API key.

        Raises:
            FencepostError: `misconfigured` when there is none.
        """
        ...

    def refresh_provider_key(self) -> None:
        """Read the provider's key anew: the one in memory was refused.

        Raises:
            FencepostError: `misconfigured` when it cannot be read.
        """
        ...

    def edge_secret(self) -> str | None:
        """Return what CloudFront sends to prove itself, or None where no CloudFront stands in front."""
        ...
