"""Limits per client address and caps per UTC day: the values that services and stores exchange."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from fencepost.domain.money import MicroDollars

_NOTHING = MicroDollars(0)


class Window(StrEnum):
    """The fixed windows in which an address is counted, aligned to UTC."""

    MINUTE = "minute"
    DAY = "day"


class Counter(StrEnum):
    """What is counted apart of an address: the requests that may call the model, and all others."""

    CHAT = "chat"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Requests that one address may make in each window, and the counter that they fill."""

    per_minute: int
    per_day: int
    counter: Counter = Counter.CHAT


@dataclass(frozen=True, slots=True)
class Caps:
    """What the whole deployment may do in one UTC day: provider calls, and money."""

    calls: int
    spend: MicroDollars


@dataclass(frozen=True, slots=True)
class Reservation:
    """A permit for exactly one provider call, with its worst case already counted against `day`.

    Attributes:
        id: random; makes settling idempotent.
        day: the UTC day that pays, even when the call ends after midnight.
        amount: the worst case in micro-dollars.
        call_number: which call of that day this is, counted from 1.
        committed: what the day has spent and reserved, this reservation included; 0 where the store did not say.
    """

    id: str
    day: date
    amount: MicroDollars
    call_number: int
    committed: MicroDollars = _NOTHING


def seconds_to_next_minute(now: datetime) -> int:
    """Whole seconds, at least 1, until the next UTC minute begins."""
    return 60 - now.second


def seconds_to_midnight(now: datetime) -> int:
    """Whole seconds, rounded up and at least 1, until the next UTC day begins."""
    tomorrow = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), datetime.min.time(), UTC)
    return -(-(tomorrow - now) // timedelta(seconds=1))
