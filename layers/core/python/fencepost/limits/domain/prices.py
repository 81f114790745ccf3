"""Prices of models, and costs of calls, in integers.

One micro-dollar is 10⁻⁶ US dollar. Prices are micro-dollars per million tokens, so `$3 / Mtok` is `3_000_000`. Costs
are rounded up to the next whole micro-dollar, so rounding never lets the bill exceed its cap. A function does not start
with a model that has no row in `PRICES`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from fencepost.kernel.money import MicroDollars, Usage


@dataclass(frozen=True, slots=True)
class LongPrompt:
    """Higher prices for long prompts: more than `above` tokens multiply all prices by `factor`, output included.

    The length of a prompt is the sum of its uncached, cache-write and cache-read tokens.
    """

    above: int
    factor: int


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-dollars per million tokens.

    Attributes:
        input: of uncached input tokens.
        cache_write: of input tokens written to the provider's cache for five minutes.
        cache_read: of input tokens read from that cache.
        output: of output tokens.
        source: page that lists the prices.
        as_of: day on which the page was read.
        long_prompt: higher prices for long prompts, if the model has them.
    """

    input: int
    cache_write: int
    cache_read: int
    output: int
    source: str
    as_of: date
    long_prompt: LongPrompt | None = None

    def for_prompt(self, tokens: int) -> Price:
        """Return the prices for a prompt of so many tokens."""
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
    """Return the prices of a model.

    Raises:
        ValueError: the model has no prices; the message lists those that have.
    """
    if model not in PRICES:
        raise ValueError(f"unknown model; known are {', '.join(sorted(PRICES))}")
    return PRICES[model]


_TOKENS_PER_PRICE = 1_000_000


def cost(price: Price, usage: Usage) -> MicroDollars:
    """Return the cost of a call. Only the sum is rounded up."""
    paid = price.for_prompt(usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens)
    return _rounded_up(
        usage.input_tokens * paid.input
        + usage.cache_write_tokens * paid.cache_write
        + usage.cache_read_tokens * paid.cache_read
        + usage.output_tokens * paid.output
    )


def worst_case(price: Price, input_tokens: int, max_output_tokens: int) -> MicroDollars:
    """Return the most that a call can cost, before it is made.

    It is not known beforehand whether an input token is read from the provider's cache, written to it, or neither, so
    each is priced at the highest of the three. No usage within both bounds costs more.

    Args:
        price: the model's prices.
        input_tokens: upper bound on the input tokens, all three classes together.
        max_output_tokens: the provider's limit on output tokens.
    """
    paid = price.for_prompt(input_tokens)
    dearest = max(paid.input, paid.cache_write, paid.cache_read)
    return _rounded_up(input_tokens * dearest + max_output_tokens * paid.output)


def _rounded_up(scaled: int) -> MicroDollars:
    return MicroDollars(-(-scaled // _TOKENS_PER_PRICE))
