"""Backoff: pauses grow with jitter, and a deadline ends them."""

from __future__ import annotations

from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.doubles.dynamodb_client import Time


def test_pauses_double_up_to_the_longest() -> None:
    time = Time()
    list(time.policy(deadline=1.0).attempts())
    assert time.pauses == pytest.approx([0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.16, 0.16, 0.16, 0.16])


def test_a_pause_is_drawn_from_the_upper_half_of_its_step() -> None:
    time = Time()
    list(time.policy(deadline=0.04, jitters=cycle([0.0, 0.99, 0.5])).attempts())
    assert time.pauses == pytest.approx([0.005, 0.0199])


def test_an_attempt_that_succeeds_at_once_waits_for_nothing() -> None:
    time = Time()
    assert next(time.policy().attempts()) == 1
    assert time.pauses == []


def test_time_that_the_attempts_take_counts() -> None:
    time = Time(tick=0.9)
    assert list(time.policy(deadline=2.0).attempts()) == [1, 2, 3]


@given(st.floats(0, 10), st.lists(st.floats(0, 0.999), min_size=1))
def test_attempts_are_bounded_and_end_by_the_deadline(deadline: float, jitters: list[float]) -> None:
    time = Time()
    attempts = list(time.policy(deadline, cycle(jitters)).attempts())
    assert attempts == list(range(1, len(attempts) + 1))
    assert len(attempts) <= 6 + deadline / 0.16
    assert time.now <= deadline + 1e-9
