"""The `Clock` of a process."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return now."""
    return datetime.now(UTC)
