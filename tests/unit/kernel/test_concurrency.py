"""Concurrent calls: order of results and failures, and no call is left running."""

from __future__ import annotations

from threading import Barrier, get_ident

import pytest

from fencepost.kernel.concurrency import run_concurrently


def test_calls_run_at_the_same_time_and_answer_in_order() -> None:
    barrier = Barrier(3, timeout=30)

    def call(name: str) -> str:
        barrier.wait()
        return name

    assert run_concurrently(lambda: call("a"), lambda: call("b"), lambda: call("c")) == ("a", "b", "c")


def test_the_first_runs_in_its_callers_thread() -> None:
    own, other = run_concurrently(get_ident, get_ident)
    assert own == get_ident() != other


def test_the_first_failure_in_order_is_raised_when_all_have_ended() -> None:
    ended = []

    def fail(name: str) -> None:
        ended.append(name)
        raise ValueError(name)

    with pytest.raises(ValueError, match="one"):
        run_concurrently(lambda: fail("one"), lambda: fail("two"), lambda: ended.append("three"))
    assert sorted(ended) == ["one", "three", "two"]
    with pytest.raises(ValueError, match="two"):
        run_concurrently(lambda: None, lambda: fail("two"), lambda: fail("three"))
