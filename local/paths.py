"""Paths of the repository and of the state folder."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "template.yaml"
BUILD = ROOT / ".aws-sam" / "build"


def state_folder() -> Path:
    """Return the folder of a local cloud's data: `FENCEPOST_STATE_DIR`, or `.fencepost` in the repository."""
    return Path(os.environ.get("FENCEPOST_STATE_DIR") or ROOT / ".fencepost").resolve()
