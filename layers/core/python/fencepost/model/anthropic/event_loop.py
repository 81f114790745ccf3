"""An event loop beside synchronous code."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class BackgroundLoop:
    """Runs coroutines on one event loop in a daemon thread; safe to use from any thread.

    It gives synchronous callers asyncio's deadlines, which also end what a socket's own timeouts cannot:
    a name that does not resolve, a peer that sends a byte now and then.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run[Result](self, coroutine: Coroutine[object, object, Result]) -> Result:
        """Run the coroutine to its end and return its result, or raise what it raises."""
        import asyncio

        return asyncio.run_coroutine_threadsafe(coroutine, self._started()).result()

    def _started(self) -> asyncio.AbstractEventLoop:
        import asyncio

        # Not before the first use: a thread must not be part of a snapshot of the process.
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="event-loop", daemon=True).start()
            return self._loop
