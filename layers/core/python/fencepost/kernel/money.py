"""Money in micro-dollars, token usage, and daily caps."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import NewType


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of one UTC day: number of provider calls, and money."""

    calls: int
    spend: MicroDollars


MicroDollars = NewType("MicroDollars", int)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of provider calls, in the provider's four classes.

    Raises:
        ValueError: a count is negative, which would lower the bill.
    """

    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0

    def __post_init__(self) -> None:
        if min(astuple(self)) < 0:
            raise ValueError("negative token count")

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(sum, zip(astuple(self), astuple(other), strict=True)))
