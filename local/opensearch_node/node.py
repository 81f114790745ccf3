"""An OpenSearch node that runs for the length of a block."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx

from local import processes
from local.opensearch_node import launches
from local.trouble import Trouble

# A container's image may have to be fetched first.
_START_SECONDS = 600.0
# One that was given runs already.
_ANSWER_SECONDS = 15.0
_STOP_SECONDS = 40.0
_POLL_SECONDS = 0.2


@contextlib.contextmanager
def running(folder: Path, say: Callable[[str], None]) -> Iterator[str]:
    """Yield the address of an OpenSearch: `OPENSEARCH_URL`, or else a node that is stopped when the block ends.

    Args:
        folder: holds data and log of a started node.
        say: called with lines for the terminal.

    Raises:
        Trouble: no OpenSearch is given and none can be started.
    """
    given = os.environ.get("OPENSEARCH_URL")
    if given:
        _await(given, _ANSWER_SECONDS)
        yield given
    else:
        with _started(folder, say) as url:
            yield url


@contextlib.contextmanager
def _started(folder: Path, say: Callable[[str], None]) -> Iterator[str]:
    port = processes.free_port()
    launch = launches.container(port) if launches.has_docker() else launches.virtual_machine(folder, port)
    say(f"Starting OpenSearch {launch.how} …")
    began = time.monotonic()
    child = processes.start("OpenSearch", launch.command, launch.environment, folder / "opensearch.log")
    try:
        url = f"http://127.0.0.1:{port}"
        _await(url, _START_SECONDS, child)
        say(f"OpenSearch is up after {time.monotonic() - began:.0f} s: {url}")
        yield url
    finally:
        child.stop(_STOP_SECONDS)


def _await(url: str, seconds: float, child: processes.Child | None = None) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and (child is None or child.alive):
        if _is_healthy(url):
            return
        time.sleep(_POLL_SECONDS)
    if child is None:
        raise Trouble("There is no healthy OpenSearch where OPENSEARCH_URL points.", exit_code=2)
    raise Trouble(f"OpenSearch did not start. Its log ends with:\n{child.last_words()}")


def _is_healthy(url: str) -> bool:
    try:
        answer = httpx.get(f"{url}/_cluster/health", params={"wait_for_status": "yellow"}, timeout=5, trust_env=False)
    except (httpx.TransportError, httpx.InvalidURL, httpx.UnsupportedProtocol):
        return False
    return answer.is_success
