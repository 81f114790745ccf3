"""Ids that sort by the time when they were made, and that nobody guesses."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import quote
from uuid import UUID

RANDOM_BITS: Final = 74
"""What RFC 9562, section 5.7, leaves to chance: `rand_a` and `rand_b`."""

_VERSION, _VARIANT = 0x7, 0b10
_RAND_B_BITS = 62


def uuid7(now: datetime, random_bits: int) -> str:
    """Return a UUIDv7 (RFC 9562, section 5.7) in its canonical form.

    Args:
        now: aware; the milliseconds since 1970 become the first 48 bits.
        random_bits: `RANDOM_BITS` bits drawn from the system.

    Raises:
        ValueError: the time or the random bits are out of bounds.
    """
    milliseconds = int(now.timestamp() * 1_000)
    if not 0 <= milliseconds < 1 << 48 or not 0 <= random_bits < 1 << RANDOM_BITS:
        raise ValueError("a time after 1970 and 74 random bits are needed")
    rand_a, rand_b = random_bits >> _RAND_B_BITS, random_bits & ((1 << _RAND_B_BITS) - 1)
    return str(UUID(int=milliseconds << 80 | _VERSION << 76 | rand_a << 64 | _VARIANT << _RAND_B_BITS | rand_b))


def quoted(part: str) -> str:
    """Quote what separates the parts of a key, and all else that is not plain."""
    return quote(part, safe="")
