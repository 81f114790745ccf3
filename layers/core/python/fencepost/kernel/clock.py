"""The system's clock, the windows of rate limits, and the seconds until they end. All in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum


def utc_now() -> datetime:
    """Return the current time: the `Clock` of deployed functions."""
    return datetime.now(UTC)


class Window(StrEnum):
    """Fixed windows of the per-address limits, aligned to UTC."""

    MINUTE = "minute"
    DAY = "day"


def seconds_to_next_minute(now: datetime) -> int:
    """Return the whole seconds until the next UTC minute, at least 1."""
    return 60 - now.second


def seconds_to_midnight(now: datetime) -> int:
    """Return the whole seconds until the next UTC day, rounded up, at least 1."""
    tomorrow = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), datetime.min.time(), UTC)
    return -(-(tomorrow - now) // timedelta(seconds=1))
