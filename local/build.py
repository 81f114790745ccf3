"""Run `sam build` and `sam package` when something has changed."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local import environments, fingerprint, processes
from local.emulator import CREDENTIALS, Emulator
from local.paths import BUILD
from local.trouble import Trouble

BUCKET = "fencepost-artifacts"


def build(architecture: str, log: Path) -> None:
    """Bring `.aws-sam/build` up to date.

    Raises:
        Trouble: the build fails; the text ends with the log's last lines.
    """
    digest = fingerprint.of_build(architecture)
    stamp = BUILD / ".fingerprint"
    with _one_at_a_time():
        if not stamp.exists() or stamp.read_text() != digest:
            overrides = ["--parameter-overrides", f"Architecture={architecture}"]
            _sam(["build", "--cached", "--build-dir", str(BUILD), *overrides], {"ARCHITECTURE": architecture}, log)
            stamp.write_text(digest)


def package(emulator: Emulator, output: Path, log: Path) -> None:
    """Upload the built code to the emulator's S3, and write the template that refers to it.

    Raises:
        Trouble: it fails.
    """
    emulator.client("s3").create_bucket(Bucket=BUCKET)
    files = ["--template-file", str(BUILD / "template.yaml"), "--output-template-file", str(output)]
    with _one_at_a_time():
        target = CREDENTIALS | {"AWS_ENDPOINT_URL": emulator.endpoint_url}
        _sam(["package", *files, "--s3-bucket", BUCKET], target, log)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Keep two local clouds from building in one folder at the same time."""
    BUILD.parent.mkdir(exist_ok=True)
    with (BUILD.parent / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _sam(arguments: list[str], environment: dict[str, str], log: Path) -> None:
    sam = environments.binary("sam", "sam")
    processes.run(f"sam {arguments[0]}", [sam, *arguments], _sam_environment(sam) | environment, log)


def _sam_environment(sam: Path) -> dict[str, str]:
    """Return an environment with the functions' Python on PATH, where SAM looks for it."""
    return {
        "PATH": f"{sam.parent}{os.pathsep}{os.environ['PATH']}",
        "SAM_CLI_TELEMETRY": "0",
        "UV": str(environments.UV),
        "PYTHON": str(sam.parent / "python3.13"),
    }


def main() -> int:
    """`make build`: build for the architecture that `ARCHITECTURE` names, and return the exit code."""
    try:
        build(os.environ.get("ARCHITECTURE", "arm64"), BUILD.parent / "build.log")
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
