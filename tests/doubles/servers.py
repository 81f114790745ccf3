"""Serving an ASGI application to a test, over a real socket."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

_START_SECONDS = 10.0


@contextmanager
def serve(app: ASGIApp) -> Iterator[str]:
    """Serve `app` on a free loopback port in a thread; yield its base URL, e.g. `http://127.0.0.1:49152`."""
    # A listener that names its protocol: asyncio sends at once on those alone, and each answer is sent in two parts.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            _wait_for(server, thread)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            # A stalled response must not hold up the test's end.
            server.should_exit = server.force_exit = True
            thread.join()


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the server did not start")
        time.sleep(0.005)
