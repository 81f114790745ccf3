"""The state folder: lock, running processes, and the digest of the last deployment."""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from local import processes
from local.trouble import Trouble


@dataclass(frozen=True, slots=True)
class Running:
    """Addresses of a running local cloud.

    Attributes:
        url: address of the front door.
        endpoint_url: address of the emulator, for AWS clients.
        functions: physical names of the deployed functions.
    """

    url: str
    endpoint_url: str
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The folder that holds a local cloud's data."""

    path: Path

    def packaged(self, built: str) -> Path:
        """Return the path of the packaged template of a build."""
        return self.path / f"packaged-{built[:12]}.yaml"

    def log(self, name: str) -> Path:
        """Return the path of a log file."""
        return self.path / f"{name}.log"

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Lock the folder for one local cloud.

        Raises:
            Trouble: another local cloud uses it.
        """
        # What the emulator stores may include the provider's key: the folder is its owner's alone.
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.path / "lock").open("a") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Trouble(
                    f"Another Fencepost uses {self.path}: stop it, or set FENCEPOST_STATE_DIR to another folder."
                ) from None
            # An emulator that outlived a crash.
            emulator = self.path / "emulator.pid"
            if emulator.exists() and "ministack" in processes.command_of(int(emulator.read_text())):
                processes.end_group(int(emulator.read_text()))
            emulator.unlink(missing_ok=True)
            yield

    def record_emulator(self, pid: int) -> None:
        """Record the emulator's process id, so that the next start can stop it after a crash."""
        (self.path / "emulator.pid").write_text(str(pid))

    def emulator_port(self) -> int:
        """Return the emulator's port: the previous one if it is free."""
        path = self.path / "port"
        remembered = int(path.read_text()) if path.exists() else 0
        listener = processes.listen(remembered)
        if listener is None:
            return self._remember(processes.free_port())
        with listener:
            return self._remember(listener.getsockname()[1])

    def _remember(self, port: int) -> int:
        (self.path / "port").write_text(str(port))
        return port

    def deployed(self) -> str:
        """Return the digest of the last deployment; empty if there was none."""
        path = self.path / "deployed"
        return path.read_text() if path.exists() else ""

    def record_deployment(self, digest: str) -> None:
        """Record the digest of the deployment."""
        (self.path / "deployed").write_text(digest)

    @contextmanager
    def announced(self, running: Running) -> Iterator[None]:
        """Publish the running cloud's addresses for `make chat` and `make invoke` until the block ends."""
        path = self.path / "running.json"
        path.write_text(json.dumps(asdict(running)))
        try:
            yield
        finally:
            path.unlink(missing_ok=True)

    def serving(self) -> Running:
        """Return the local cloud that runs from this folder.

        Raises:
            Trouble: none is running.
        """
        running = self.running()
        if running is None:
            raise Trouble(
                "No Fencepost runs here: start it with `make dev`, or name its folder in FENCEPOST_STATE_DIR."
            )
        return running

    def running(self) -> Running | None:
        """Return the local cloud that runs from this folder; None if none does."""
        with contextlib.suppress(FileNotFoundError):
            values = json.loads((self.path / "running.json").read_text())
            return Running(values["url"], values["endpoint_url"], tuple(values["functions"]))
        return None
