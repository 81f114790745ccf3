"""The state folder: one user at a time, and nothing left over."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from local.state import Running, StateFolder
from local.trouble import Trouble


@contextmanager
def sleeper(name: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process in a group of its own whose command line has this name."""
    command = [sys.executable, "-c", "import time; time.sleep(60)", name]
    with subprocess.Popen(command, start_new_session=True) as process:
        yield process
        process.kill()


def test_a_folder_is_claimed_once(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "new")
    with folder.claimed(), pytest.raises(Trouble, match="FENCEPOST_STATE_DIR"), folder.claimed():
        pass
    with folder.claimed():
        pass


def test_an_emulator_that_outlived_its_parent_is_ended(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    with sleeper("ministack") as left:
        folder.record_emulator(left.pid)
        with folder.claimed():
            assert left.wait(timeout=20) is not None


def test_a_process_that_merely_has_its_number_is_left_alone(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    with sleeper("another program") as other:
        folder.record_emulator(other.pid)
        with folder.claimed():
            assert other.poll() is None


def test_the_emulators_port_stays_the_same_unless_it_is_taken(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    port = folder.emulator_port()
    assert folder.emulator_port() == port
    with socket.create_server(("127.0.0.1", port)):
        assert folder.emulator_port() != port


def test_what_runs_is_found_while_it_runs(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    running = Running("http://127.0.0.1:1", "http://127.0.0.1:2", ("chat",))
    with folder.announced(running):
        assert folder.running() == running
    assert folder.running() is None
