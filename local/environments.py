"""The Python environments beside `.venv`: the emulator's and SAM's. All are installed from the one `uv.lock`.

They are apart because their dependencies exclude each other (`[tool.uv] conflicts` in pyproject.toml).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from local import processes
from local.paths import ROOT

Group = Literal["cloud", "sam"]
UV = ROOT / "local" / "uv"
_LOCK = ROOT / "uv.lock"


def binary(group: Group, name: str) -> Path:
    """Return a command of the environment, which is installed first where it is missing or older than the lock."""
    folder = ROOT / ".venvs" / group
    stamp = folder / ".synced"
    if not stamp.exists() or stamp.stat().st_mtime < _LOCK.stat().st_mtime:
        _sync(group, folder)
        stamp.touch()
    return folder / "bin" / name


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
