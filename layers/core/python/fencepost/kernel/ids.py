"""Ids that sort by creation time and cannot be guessed, and quoting of ids in keys."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import quote
from uuid import UUID

RANDOM_BITS: Final = 74
"""Number of random bits in a UUIDv7: `rand_a` and `rand_b` of RFC 9562, section 5.7."""

_VERSION, _VARIANT = 0x7, 0b10
_RAND_B_BITS = 62


def uuid7(now: datetime, random_bits: int) -> str:
    """Return a UUIDv7 (RFC 9562, section 5.7) in its canonical form.

    Args:
        now: aware; its milliseconds since 1970 become the first 48 bits.
        random_bits: `RANDOM_BITS` bits from a cryptographic generator.

    Raises:
        ValueError: the time or the random bits are out of bounds.
    """
    milliseconds = int(now.timestamp() * 1_000)
    if not 0 <= milliseconds < 1 << 48 or not 0 <= random_bits < 1 << RANDOM_BITS:
        raise ValueError("a time after 1970 and 74 random bits are needed")
    rand_a, rand_b = random_bits >> _RAND_B_BITS, random_bits & ((1 << _RAND_B_BITS) - 1)
    return str(UUID(int=milliseconds << 80 | _VERSION << 76 | rand_a << 64 | _VARIANT << _RAND_B_BITS | rand_b))


def quoted(part: str) -> str:
    """Percent-encode a part of a key, including separators such as `#` and `/`."""
    return quote(part, safe="")
