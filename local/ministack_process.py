"""The emulator's process: ministack, changed to unpack each layer once.

ministack unpacks all layers for every function process that it starts: ten thousand files, which takes seconds and
loses the bytecode that Python cached beside them. Here later processes get a link to the first copy. This module runs
in the emulator's environment and imports nothing of this project, with one exception:
`MINISTACK_WATCH` names a module whose `watch` is called before anything is served (`tests.doubles.dynamodb_watch`).
"""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any
from zipfile import BadZipFile, LargeZipFile, ZipFile, ZipInfo

LAYER = "layer_"
"""Prefix of the folders that ministack unpacks layers to."""

_one_at_a_time = Lock()


def unpacked() -> Path:
    """Return the folder of unpacked layers, each under the digest of its archive."""
    return Path(os.environ["TMPDIR"]) / "layers"


class Archive(ZipFile):
    """A ZIP file that is unpacked once and then shared by all processes that use it as a layer."""

    def extractall(
        self,
        path: str | os.PathLike[str] | None = None,
        members: Iterable[str | ZipInfo] | None = None,
        pwd: bytes | None = None,
    ) -> None:
        """Unpack to a folder. The empty folder of a layer is replaced by a link to the shared copy."""
        target = Path(path or ".")
        if not target.name.startswith(LAYER):
            super().extractall(path, members, pwd)
            return
        whole = unpacked() / hashlib.sha256(Path(self.filename or "").read_bytes()).hexdigest()
        with _one_at_a_time:
            if not whole.exists():
                # Under another name until it is whole.
                part = whole.with_suffix(".part")
                super().extractall(part, members, pwd)
                part.rename(whole)
        target.rmdir()
        target.symlink_to(whole)


def _watch() -> None:
    # Taken out of the environment: functions see nothing but what the template gives them.
    name = os.environ.pop("MINISTACK_WATCH", "")
    if name:
        sys.path.append(str(Path(__file__).resolve().parents[1]))
        importlib.import_module(name).watch()
        sys.path.pop()


def main() -> Any:
    """Run ministack."""
    from ministack import app  # type: ignore[import-not-found]  # noqa: PLC0415 - it is installed in another environment
    from ministack.core import lambda_runtime  # type: ignore[import-not-found]  # noqa: PLC0415

    # Copies of an earlier process may be incomplete or outdated.
    shutil.rmtree(unpacked(), ignore_errors=True)
    _watch()
    lambda_runtime.zipfile = SimpleNamespace(ZipFile=Archive, BadZipFile=BadZipFile, LargeFileError=LargeZipFile)
    return app.main()


if __name__ == "__main__":
    sys.exit(main())
