"""Child processes. Each leads its process group, writes to a log file, and is stopped together with its group."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from local.paths import ROOT
from local.trouble import Trouble

# What a child sees of the caller's environment. The rest would reach the emulated functions, which must see
# nothing but what the template gives them.
_INHERITED = (
    "HOME",
    "LANG",
    "LC_ALL",
    "PATH",
    "PYENV_VERSION",
    "PIP_CERT",
    "PIP_INDEX_URL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "UV_CACHE_DIR",
    "UV_DEFAULT_INDEX",
    "HTTPS_PROXY",
    "NO_PROXY",
)

_ADVICE = "If it is one of Fencepost's own tools, `make clean` removes them, and the next start installs them anew."


@dataclass(frozen=True, slots=True)
class Child:
    """A running process that leads its group."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        """Return whether the process is running."""
        return self.process.poll() is None

    def stop(self, grace_seconds: float = 10.0) -> None:
        """Terminate the process, and kill its group after the grace period: children may outlive their leader."""
        if self.alive:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(grace_seconds)
        self.kill()

    def kill(self) -> None:
        """Kill the whole group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def last_words(self, lines: int = 12) -> str:
        """Return the last lines of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def base_environment() -> dict[str, str]:
    """Return the variables of the caller's environment that children inherit."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def start(
    name: str, command: Sequence[str | Path], environment: Mapping[str, str], log: Path, folder: Path = ROOT
) -> Child:
    """Start a process in a new session, so that a Ctrl-C at the terminal reaches only this process.

    Args:
        name: used in messages.
        command: the program and its arguments.
        environment: variables in addition to the few that every child inherits.
        log: the file for its output.
        folder: its working directory.

    Raises:
        Trouble: the program is missing or cannot be run.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=folder,
                env={**base_environment(), **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                umask=0o077,
            )
        except OSError as error:
            raise Trouble(f"`{name}` cannot be started: {command[0]}: {error.strerror}. {_ADVICE}") from None
    return Child(name, process, log)


def run(name: str, command: Sequence[str | Path], environment: Mapping[str, str], log: Path) -> None:
    """Run a process to its end. If this process is interrupted, kill the whole group.

    Raises:
        Trouble: it cannot be started, or it fails; then the text ends with the last lines of its log.
    """
    child = start(name, command, environment, log)
    try:
        failed = child.process.wait() != 0
    finally:
        child.kill()
    if failed:
        raise Trouble(f"`{name}` failed. Its log {log} ends with:\n{child.last_words()}")


def command_of(pid: int) -> str:
    """Return the command line of a running process, empty where there is none or nothing can tell."""
    if shutil.which("ps") is None:
        return ""
    shown = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return "" if "<defunct>" in shown.stdout else shown.stdout.strip()


def end_group(pid: int, grace_seconds: float = 15.0) -> None:
    """End the group of a process that is not our child."""
    deadline = time.monotonic() + grace_seconds
    os.kill(pid, signal.SIGTERM)
    while command_of(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listen(port: int) -> socket.socket | None:
    """Take the loopback port, or return None where another has it."""
    # It names its protocol: asyncio sends at once on those alone, and each answer is sent in two parts.
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
    except OSError:
        listener.close()
        return None
    return listener
