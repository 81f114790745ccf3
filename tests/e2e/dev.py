"""`make dev` as a person runs it: a command, its output, a signal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from local.paths import ROOT

_UP = re.compile(r"Fencepost is up: (http://127\.0\.0\.1:\d+)")
_START_SECONDS = 240.0
_STOP_SECONDS = 120.0


@dataclass
class Dev:
    """A running `make dev`."""

    process: subprocess.Popen[str]
    folder: Path
    lines: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Collect what it prints, until it ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def url(self) -> str:
        """Wait for the line that says where it is up."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            for line in self.lines:
                if found := _UP.fullmatch(line):
                    return found[1]
            time.sleep(0.1)
        raise AssertionError("\n".join(["it did not come up:", *self.lines]))

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal as a supervisor would, SIGINT as a terminal would to all, and return the exit code."""
        send = os.killpg if number == signal.SIGINT else os.kill
        send(self.process.pid, number)
        return self.process.wait(_STOP_SECONDS)


@contextmanager
def make_dev(folder: Path, port: int, **environment: str) -> Iterator[Dev]:
    """Run `make dev` with its data in this folder."""
    process = subprocess.Popen(
        ["make", "--no-print-directory", "dev"],
        cwd=ROOT,
        env=variables(folder, PORT=str(port), **environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    dev = Dev(process, folder)
    reader = threading.Thread(target=dev.read, daemon=True)
    reader.start()
    try:
        yield dev
    finally:
        if process.poll() is None:
            dev.stop()
        reader.join()


def make(target: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run another target beside it, to its end."""
    return subprocess.run(
        ["make", "--no-print-directory", target],
        cwd=ROOT,
        env=variables(folder, **environment),
        capture_output=True,
        text=True,
        timeout=_START_SECONDS,
        check=False,
    )


def variables(folder: Path, **environment: str) -> dict[str, str]:
    """Return the environment of a command whose data is in this folder."""
    # What an outer `make` exports to its recipes is not for the ones that we run.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return kept | {"FENCEPOST_STATE_DIR": str(folder), "PYTHONUNBUFFERED": "1"} | environment


def processes_of(folder: Path) -> list[str]:
    """Return the command lines of the processes that were started for this folder, found by their environment."""
    mark = str(folder).encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
    return [command for command in found if command]


def eventually(holds: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
