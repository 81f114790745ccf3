"""The price table."""

from __future__ import annotations

import pytest

from fencepost.kernel.money import Usage
from fencepost.limits.domain.prices import PRICES, Price, cost, price_of, worst_case


@pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)
def test_every_row_has_a_source_and_the_providers_proportions(price: Price) -> None:
    assert price.source.startswith("https://platform.claude.com/")
    assert price.cache_write * 4 == price.input * 5
    assert 0 < price.cache_read * 10 <= price.input < price.output


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="claude-haiku-4-5"):
        price_of("claude-abacus-1")


def test_a_long_prompt_pays_the_dearer_band_for_every_token() -> None:
    price = price_of("claude-haiku-5-5")

    assert cost(price, Usage(input_tokens=100_000, output_tokens=1_000)) == 10_000 + 500
    assert cost(price, Usage(input_tokens=100_001, output_tokens=1_000)) == 50_001 + 2_500


def test_all_classes_of_a_prompt_count_towards_its_band() -> None:
    price = price_of("claude-haiku-5-5")
    usage = Usage(input_tokens=1, cache_write_tokens=50_000, cache_read_tokens=50_000)

    assert cost(price, usage) == (1 * 500_000 + 50_000 * 625_000 + 50_000 * 50_000) // 1_000_000 + 1


def test_the_worst_case_of_a_bound_beyond_the_band_covers_both_sides() -> None:
    price = price_of("claude-haiku-5-5")
    bound = worst_case(price, 100_001, 500)

    assert bound >= cost(price, Usage(cache_write_tokens=100_000, output_tokens=500))
    assert bound >= cost(price, Usage(cache_write_tokens=100_001, output_tokens=500))
