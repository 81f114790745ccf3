"""Where events and audit records go."""

from __future__ import annotations

from typing import Protocol

from fencepost.observability.domain.events import AuditRecord, Event


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


class RequestLog(Events, Protocol):
    """Events, told apart by the request that they belong to."""

    def begin(self, request_id: str) -> None:
        """Start a request."""
        ...

    def log_unexpected(self, error: BaseException) -> None:
        """Report a fault of ours without its text."""
        ...
