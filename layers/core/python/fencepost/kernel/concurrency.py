"""Calls that wait for the network, made at the same time. Services and adapters both use it; it knows neither."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, overload


@overload
def run_concurrently[A, B](first: Callable[[], A], second: Callable[[], B], /) -> tuple[A, B]: ...
@overload
def run_concurrently[A, B, C](
    first: Callable[[], A], second: Callable[[], B], third: Callable[[], C], /
) -> tuple[A, B, C]: ...
def run_concurrently(first: Callable[[], Any], /, *others: Callable[[], Any]) -> tuple[Any, ...]:
    """Call all of them at once and return their results in this order, when the last one has ended.

    The first runs in the caller's own thread, each other in one of its own: a shared pool could be full of calls that
    wait for it.

    Raises:
        BaseException: of the calls that failed, the first one's. All others have ended by then.
    """
    with ThreadPoolExecutor(len(others)) as pool:
        running = [pool.submit(call) for call in others]
        own = first()
    return own, *(call.result() for call in running)


def start_concurrently[T](call: Callable[[], T], /) -> Future[T]:
    """Make a call in a thread of its own and return at once. Nobody has to wait for its end."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(call)
    finally:
        pool.shutdown(wait=False)
