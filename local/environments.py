"""The Python environments beside `.venv`, for the emulator and for SAM. All are installed from `uv.lock`.

They are separate because their dependencies conflict (`[tool.uv] conflicts` in pyproject.toml).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from local import processes
from local.paths import ROOT

Group = Literal["cloud", "sam"]
UV = ROOT / "local" / "uv"
_LOCK = ROOT / "uv.lock"


def binary(group: Group, name: str) -> Path:
    """Return the path of a command. Reinstalls the environment if it is missing, broken or older than the lock.

    Raises:
        Trouble: the environment cannot be installed.
    """
    folder = ROOT / ".venvs" / group
    command = folder / "bin" / name
    if not (_is_current(folder) and command.exists()):
        # What is there names the folder and the interpreter that it was made with, and a sync would keep it.
        shutil.rmtree(folder, ignore_errors=True)
        _sync(group, folder)
        _stamp(folder).write_text(str(folder))
    return command


def _is_current(folder: Path) -> bool:
    """Return whether the interpreter exists and the folder was not moved; the stamp records its path."""
    stamp = _stamp(folder)
    if not (stamp.exists() and (folder / "bin" / "python").exists()):
        return False
    return stamp.read_text() == str(folder) and stamp.stat().st_mtime >= _LOCK.stat().st_mtime


def _stamp(folder: Path) -> Path:
    return folder / ".synced"


def _sync(group: Group, folder: Path) -> None:
    print(f"Installing the {group} tools …", flush=True)
    command: list[str | Path] = [
        UV,
        "sync",
        "--quiet",
        "--frozen",
        "--compile-bytecode",
        "--no-default-groups",
        "--only-group",
        group,
    ]
    environment = {"UV_PROJECT_ENVIRONMENT": str(folder)}
    processes.run(f"uv sync --only-group {group}", command, environment, folder.with_name(f"{group}.log"))
