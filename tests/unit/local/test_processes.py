"""Child processes end with all that they started."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from local import processes

# A leader whose worker ignores a polite request, as a busy function does.
FAMILY = "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & wait"


@pytest.fixture
def family(tmp_path: Path) -> processes.Child:
    return processes.start("family", ["sh", "-c", FAMILY], {}, tmp_path / "log")


def worker(child: processes.Child) -> int:
    """Wait for the worker to say its number."""
    while not (text := child.log.read_text()).endswith("\n"):
        time.sleep(0.01)
    return int(text)


def ends(pid: int) -> bool:
    """Say whether the process ends within ten seconds; one that nobody has reaped yet has ended."""
    deadline = time.monotonic() + 10
    while processes.command_of(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not processes.command_of(pid)


def test_a_stop_ends_the_workers_too(family: processes.Child) -> None:
    pid = worker(family)
    family.stop()
    assert ends(pid)
    family.stop()


def test_the_workers_of_a_leader_that_was_killed_are_ended(family: processes.Child) -> None:
    pid = worker(family)
    os.kill(family.process.pid, signal.SIGKILL)
    family.process.wait()
    assert processes.command_of(pid)
    family.stop()
    assert ends(pid)
