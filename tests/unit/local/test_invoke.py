"""`make invoke` beside a local cloud that has died."""

from __future__ import annotations

from pathlib import Path

import pytest

from local import invoke, processes
from local.state import Running, StateFolder
from local.trouble import Trouble


def test_a_cloud_that_was_killed_is_said_to_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FENCEPOST_STATE_DIR", str(tmp_path))
    gone = f"http://127.0.0.1:{processes.free_port()}"
    running = Running("http://127.0.0.1:8787", gone, ("fencepost-ChatFunction-1",))
    with StateFolder(tmp_path).announced(running), pytest.raises(Trouble, match="make dev"):
        invoke.variables("ChatFunction")
