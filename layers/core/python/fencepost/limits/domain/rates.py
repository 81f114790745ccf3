"""Limits on the requests of one client address, in fixed UTC windows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
