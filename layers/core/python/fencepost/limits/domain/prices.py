"""One price table: what each model's tokens cost. A model without a row stops the start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from fencepost.kernel.money import MicroDollars, Usage


@dataclass(frozen=True, slots=True)
class LongPrompt:
    """A model's dearer band: a prompt of more than `above` tokens multiplies all its prices, output included.

    The prompt's length is its uncached, cache-write and cache-read tokens together.
    """

    above: int
    factor: int


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-dollars per million tokens, with where and when they were read.

    `cache_write` is the price of an entry that lives for five minutes.
    """

    input: int
    cache_write: int
    cache_read: int
    output: int
    source: str
    as_of: date
    long_prompt: LongPrompt | None = None

    def for_prompt(self, tokens: int) -> Price:
        """Return what a call with a prompt of so many tokens pays."""
        band = self.long_prompt
        if band is None or tokens <= band.above:
            return self
        return replace(
            self,
            input=self.input * band.factor,
            cache_write=self.cache_write * band.factor,
            cache_read=self.cache_read * band.factor,
            output=self.output * band.factor,
            long_prompt=None,
        )


_PAGE = "https://platform.claude.com/docs/en/about-claude/pricing"
_READ = date(2026, 10, 24)

PRICES: dict[str, Price] = {
    "claude-haiku-4-5": Price(1_000_000, 1_250_000, 100_000, 5_000_000, _PAGE, _READ),
    "claude-haiku-5-5": Price(100_000, 125_000, 10_000, 500_000, _PAGE, _READ, LongPrompt(100_000, 5)),
    "claude-opus-5": Price(5_000_000, 6_250_000, 500_000, 25_000_000, _PAGE, _READ),
    "claude-opus-5-5": Price(4_000_000, 5_000_000, 200_000, 20_000_000, _PAGE, _READ),
    "claude-sonnet-4-6": Price(3_000_000, 3_750_000, 300_000, 15_000_000, _PAGE, _READ),
    "claude-sonnet-5-5": Price(2_000_000, 2_500_000, 100_000, 10_000_000, _PAGE, _READ),
}


def price_of(model: str) -> Price:
    """Return the model's row.

    Raises:
        ValueError: naming the models that have one.
    """
    if model not in PRICES:
        raise ValueError(f"unknown model; known are {', '.join(sorted(PRICES))}")
    return PRICES[model]


_TOKENS_PER_PRICE = 1_000_000


def cost(price: Price, usage: Usage) -> MicroDollars:
    """Return what the provider charges, rounded up once, on the sum."""
    paid = price.for_prompt(usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens)
    return _rounded_up(
        usage.input_tokens * paid.input
        + usage.cache_write_tokens * paid.cache_write
        + usage.cache_read_tokens * paid.cache_read
        + usage.output_tokens * paid.output
    )


def worst_case(price: Price, input_tokens: int, max_output_tokens: int) -> MicroDollars:
    """Return the most that a call can cost before it is made.

    Whether an input token is read from the provider's cache, written to it or neither is not known beforehand, so each
    is priced as the dearest of the three. No usage within the two bounds costs more.

    Args:
        price: the model's row.
        input_tokens: an upper bound on the input, all three classes together.
        max_output_tokens: where the provider stops.
    """
    paid = price.for_prompt(input_tokens)
    dearest = max(paid.input, paid.cache_write, paid.cache_read)
    return _rounded_up(input_tokens * dearest + max_output_tokens * paid.output)


def _rounded_up(scaled: int) -> MicroDollars:
    return MicroDollars(-(-scaled // _TOKENS_PER_PRICE))
