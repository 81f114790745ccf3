"""Money as integers, and what a model call costs.

One micro-dollar is 10⁻⁶ US dollar. Prices are micro-dollars per million tokens, so `$3 / Mtok` is `3_000_000`
and a cost rounds up to the next whole micro-dollar: never in the operator's disfavour against the cap.
"""

from __future__ import annotations

from fencepost.kernel.money import MicroDollars, Usage
from fencepost.limits.domain.prices import Price

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
