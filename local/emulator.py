"""The AWS emulator: one ministack process with its data in a folder."""

from __future__ import annotations

import contextlib
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from local import environments, processes
from local.paths import ROOT
from local.trouble import Trouble

REGION = "us-east-1"
# The emulator takes any credentials; these make sure that a developer's real ones are never sent.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION}
WATCH = ("MINISTACK_WATCH", "MINISTACK_WATCH_RECORD")
"""Variables of a test run that checks requests: the name of a module, and the file for its findings."""
_START_SECONDS = 60.0
# It saves its data when it ends, and first lets what runs in its functions finish.
_SAVE_SECONDS = 40.0


@dataclass(frozen=True, slots=True)
class Emulator:
    """A running emulator."""

    endpoint_url: str
    child: processes.Child

    def client(self, service: str) -> Any:
        """Return a boto3 client of the emulator, e.g. `client("dynamodb")`."""
        return client(service, self.endpoint_url)

    def stop(self) -> None:
        """Stop the emulator, with time to save its data."""
        self.child.stop(_SAVE_SECONDS)


def client(service: str, endpoint_url: str) -> Any:
    """Return a boto3 client of the emulator at this address."""
    return boto3.client(  # type: ignore[call-overload]  # the stubs know the services one by one
        service,
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        config=Config(retries={"total_max_attempts": 1}, max_pool_connections=64),
    )


def start(folder: Path, port: int, lambda_ttl_seconds: int = 3_600, *, enforces_policies: bool = False) -> Emulator:
    """Start the emulator on a loopback port and wait until it answers.

    Args:
        folder: holds its data and its log.
        port: a free port.
        lambda_ttl_seconds: how long an idle function stays warm.
        enforces_policies: enforce IAM policies; otherwise every call is allowed.

    Raises:
        Trouble: it does not start.
    """
    python = environments.binary("cloud", "ministack").with_name("python")
    # Its folder is no place to import from: there are namesakes of Python's own modules in it.
    command = [str(python), "-P", str(ROOT / "local" / "ministack_process.py")]
    environment = _environment(folder, port, lambda_ttl_seconds) | ({"AUTH": "true"} if enforces_policies else {})
    child = processes.start("emulator", command, environment, folder / "emulator.log")
    emulator = Emulator(f"http://127.0.0.1:{port}", child)
    with contextlib.ExitStack() as failed:
        failed.callback(child.stop)
        _await_health(emulator)
        failed.pop_all()
    return emulator


def _environment(folder: Path, port: int, lambda_ttl_seconds: int) -> dict[str, str]:
    watched = {name: os.environ[name] for name in WATCH if name in os.environ}
    scratch = folder / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    return (
        CREDENTIALS
        | watched
        | {
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "PERSIST_STATE": "1",
            "STATE_DIR": str(folder / "state"),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(folder / "s3"),
            "TMPDIR": str(scratch),
            "LAMBDA_EXECUTOR": "local",
            "LAMBDA_WARM_TTL_SECONDS": str(lambda_ttl_seconds),
            "PYTHONUNBUFFERED": "1",
        }
    )


def _await_health(emulator: Emulator) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and emulator.child.alive:
        try:
            with urllib.request.urlopen(f"{emulator.endpoint_url}/_ministack/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    log = emulator.child.log
    raise Trouble(f"The local cloud did not start. Its log {log} ends with:\n{emulator.child.last_words()}")
