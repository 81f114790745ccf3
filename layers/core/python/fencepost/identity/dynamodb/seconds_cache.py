"""Copies of settings that many requests read and few change: kept for seconds, never longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol

SECONDS: Final = 5.0
"""How old a copy may get: a change is in force everywhere within this time."""
MAX_COPIES: Final = 1_000

type Timer = Callable[[], float]


class Versioned(Protocol):
    """A value that is replaced by one of a higher version."""

    @property
    def version(self) -> int:
        """Raised with every change."""
        ...


@dataclass(frozen=True, slots=True)
class _Copy[Value]:
    value: Value
    until: float


class SecondsCache[Value: Versioned]:
    """Keeps values by their keys. What is absent is not kept: who is new is known at once. Safe in threads.

    Args:
        timer: a clock that never goes back, in seconds.
    """

    def __init__(self, timer: Timer = time.monotonic) -> None:
        self._timer = timer
        self._copies: dict[str, _Copy[Value]] = {}
        self._lock = Lock()

    def get(self, key: str) -> Value | None:
        """Return a copy that is young enough."""
        copy = self._copies.get(key)
        return copy.value if copy and self._timer() < copy.until else None

    def keep(self, key: str, value: Value) -> Value:
        """Keep a value that was just read, and return the newest one that is known.

        A slow reader may come with an older version than a faster one brought: it changes nothing.
        """
        with self._lock:
            known = self._copies.get(key)
            if known and self._timer() < known.until and known.value.version > value.version:
                return known.value
            self._copies.pop(key, None)
            while len(self._copies) >= MAX_COPIES:
                del self._copies[next(iter(self._copies))]
            self._copies[key] = _Copy(value, self._timer() + SECONDS)
            return value
