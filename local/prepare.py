"""`make test`: install and build everything that the tests need, before they start."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from local import build, environments, parameters, processes
from local.trouble import Trouble

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_PACKAGES = ("chromium", "fonts-noto-cjk")


def browser() -> str | None:
    """Return the path of an installed browser."""
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


def main() -> int:
    """Prepare, and return the exit code."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            _prepare(Path(folder))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    return 0


def _prepare(logs: Path) -> None:
    environments.binary("cloud", "ministack")
    print("Building the functions …", flush=True)
    build.build(parameters.machine(), logs / "build.log")
    if browser() is None:
        _install_browser(logs / "apt.log")


def _install_browser(log: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print("No browser is installed: the demo page's test fails until chromium is.", file=sys.stderr)
        return
    print("Installing the browser …", flush=True)
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    processes.run("apt-get update", ["apt-get", "update"], environment, log)
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *_PACKAGES]
    processes.run("apt-get install", install, environment, log)


if __name__ == "__main__":
    sys.exit(main())
