"""Run blocking calls concurrently, in threads."""

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
    """Run calls concurrently and return their results in the order of the arguments.

    The first call runs in the caller's thread, each other call in a new thread. A shared pool could deadlock, with all
    of its threads waiting for calls that are still queued.

    Raises:
        BaseException: the exception of the first failed call in the order of the arguments, after all calls have ended.
    """
    with ThreadPoolExecutor(len(others)) as pool:
        running = [pool.submit(call) for call in others]
        own = first()
    return own, *(call.result() for call in running)


def start_concurrently[T](call: Callable[[], T], /) -> Future[T]:
    """Start a call in a new thread and return its future, which may be discarded."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(call)
    finally:
        pool.shutdown(wait=False)
