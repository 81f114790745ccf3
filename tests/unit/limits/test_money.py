"""What a call costs, and what it can cost at most."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.kernel.money import Usage
from fencepost.limits.domain.prices import PRICES, Price, cost, worst_case

tokens = st.integers(0, 2_000_000)
usages = st.builds(Usage, tokens, tokens, tokens, tokens)
models = st.sampled_from(sorted(PRICES))
PRICE = Price(1_000_000, 1_250_000, 100_000, 5_000_000, "a test", date(2026, 1, 1))


def prompt_tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens


@pytest.mark.parametrize("place", range(4))
def test_a_negative_count_is_no_usage(place: int) -> None:
    counts = [1_000] * 4
    counts[place] = -1
    with pytest.raises(ValueError, match="negative"):
        Usage(*counts)


@given(models, usages, st.integers(0, 1_000), st.integers(0, 1_000))
def test_no_usage_within_the_bounds_costs_more_than_the_worst_case(
    model: str, usage: Usage, more_input: int, more_output: int
) -> None:
    bound = worst_case(PRICES[model], prompt_tokens(usage) + more_input, usage.output_tokens + more_output)
    assert cost(PRICES[model], usage) <= bound


@given(models, tokens, tokens)
def test_the_worst_case_is_reached(model: str, prompt: int, output: int) -> None:
    ways = (
        Usage(input_tokens=prompt, output_tokens=output),
        Usage(cache_write_tokens=prompt, output_tokens=output),
        Usage(cache_read_tokens=prompt, output_tokens=output),
    )
    assert worst_case(PRICES[model], prompt, output) == max(cost(PRICES[model], usage) for usage in ways)


@given(models, usages)
def test_a_cost_is_the_exact_sum_rounded_up_once(model: str, usage: Usage) -> None:
    price = PRICES[model].for_prompt(prompt_tokens(usage))
    exact = Fraction(
        usage.input_tokens * price.input
        + usage.cache_write_tokens * price.cache_write
        + usage.cache_read_tokens * price.cache_read
        + usage.output_tokens * price.output,
        1_000_000,
    )
    assert 0 <= cost(PRICES[model], usage) - exact < 1


@pytest.mark.parametrize(
    ("usage", "microdollars"),
    [
        (Usage(), 0),
        (Usage(cache_read_tokens=1), 1),
        (Usage(cache_read_tokens=11), 2),
        (Usage(input_tokens=1_000_000), 1_000_000),
        (Usage(1_000, 2_000, 3_000, 400), 1_000 + 2_500 + 300 + 2_000),
    ],
)
def test_costs(usage: Usage, microdollars: int) -> None:
    assert cost(PRICE, usage) == microdollars
