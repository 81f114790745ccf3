"""The `Clock` of a process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum


def utc_now() -> datetime:
    """Return now."""
    return datetime.now(UTC)


class Window(StrEnum):
    """The fixed windows in which an address is counted, aligned to UTC."""

    MINUTE = "minute"
    DAY = "day"


def seconds_to_next_minute(now: datetime) -> int:
    """Whole seconds, at least 1, until the next UTC minute begins."""
    return 60 - now.second


def seconds_to_midnight(now: datetime) -> int:
    """Whole seconds, rounded up and at least 1, until the next UTC day begins."""
    tomorrow = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), datetime.min.time(), UTC)
    return -(-(tomorrow - now) // timedelta(seconds=1))
