"""The provider's figures: what they add up to, and when they are not believed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.kernel.money import Usage
from fencepost.model.anthropic.usage import MOST_TOKENS, ReportedUsage

NAMES = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
counts = st.integers(1, MOST_TOKENS)
wrong = st.one_of(
    st.integers(max_value=-1),
    st.integers(min_value=MOST_TOKENS + 1),
    st.booleans(),
    st.floats(),
    st.text(),
    st.binary(),
)


def usage_of(start: dict[str, object], *deltas: dict[str, object]) -> Usage | None:
    """Return what the reports of one stream come to."""
    reported = ReportedUsage()
    reported.begin(SimpleNamespace(**start))
    for delta in deltas:
        reported.add(SimpleNamespace(**delta))
    return reported.usage()


@given(st.tuples(counts, counts, counts, counts))
def test_the_newest_figures_count(figures: tuple[int, int, int, int]) -> None:
    start: dict[str, object] = dict(zip(NAMES, (9, 8, 7, 6), strict=True))
    end: dict[str, object] = dict(zip(NAMES, figures, strict=True))
    assert usage_of(start, end) == Usage(*figures)
    assert usage_of(end, {"input_tokens": None, "output_tokens": 5}) == Usage(*figures[:3], 5)


@given(st.sampled_from(NAMES), wrong, st.booleans())
def test_one_figure_that_cannot_be_makes_all_unknown(name: str, figure: object, at_start: bool) -> None:
    start: dict[str, object] = dict.fromkeys(NAMES, 100)
    assert usage_of(start | ({name: figure} if at_start else {}), start if at_start else start | {name: figure}) is None


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ({}, {"output_tokens": 10}),
        ({"cache_read_input_tokens": 10}, {"output_tokens": 10}),
        ({"input_tokens": 0}, {"output_tokens": 10}),
        ({"input_tokens": 10, "output_tokens": 1}, {}),
    ],
    ids=["no prompt", "only a cached part", "an empty prompt", "no final output"],
)
def test_what_was_never_reported_is_unknown(start: dict[str, object], end: dict[str, object]) -> None:
    assert usage_of(start, end) is None
