"""Outputs for events and audit records."""

from __future__ import annotations

from typing import Protocol

from fencepost.observability.domain.events import AuditRecord, Event


class Events(Protocol):
    """Output for structured events: logs and metrics."""

    def emit(self, event: Event) -> None:
        """Write an event. Never raises."""
        ...


class AuditTrail(Protocol):
    """Store of a short record of each admitted request, kept for some days (`dynamodb/audit.py`)."""

    def record(self, entry: AuditRecord) -> None:
        """Store an entry. Never raises: a failure is reported as an event."""
        ...


class RequestLog(Events, Protocol):
    """Output for the events of one request after another."""

    def begin(self, request_id: str) -> None:
        """Start a request; its id goes into all log lines until the next one."""
        ...

    def log_unexpected(self, error: BaseException) -> None:
        """Report an unexpected exception, without its text."""
        ...
