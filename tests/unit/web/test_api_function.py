"""The API function as a process builds it, and the sample events that it is tried with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.worlds.whole_api import whole_api

ROOT = Path(__file__).resolve().parents[3]
WATCHED = ("boto3", "anthropic", "jwt", "cryptography", "pypdf")
SCRIPT = f"""
import json, sys
import app
before = [name for name in {WATCHED!r} if name in sys.modules]
event = json.load(open({str(ROOT / "events/api.json")!r}))
print(json.dumps({{"answer": app.handler(event, None), "before": before}}))
"""
SAMPLES = {"api": 404, "api-conversations": 401, "api-preflight": 204}
"""The site of the first one is that of a fresh `make dev`."""


def outcome(**environment: str) -> dict[str, Any]:
    """Start the function in a process of its own, and send it the first sample."""
    paths = os.pathsep.join(map(str, [ROOT / "layers/core/python", ROOT / "functions/api"]))
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={"PYTHONPATH": paths, "PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    last: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return last


def test_no_sdk_is_imported_before_it_is_needed() -> None:
    assert outcome()["before"] == []


def test_the_demo_remembers_nobody() -> None:
    answer = outcome(FENCEPOST_DEMO_MODE="true")["answer"]
    assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (404, "not_found")


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_events_of_the_gateway(name: str) -> None:
    event = json.loads((ROOT / f"events/{name}.json").read_text())
    world = whole_api()
    # The log knows its events by the request's id.
    event["requestContext"]["requestId"] = "6f0d3c1e-0000-4000-8000-000000000001"
    assert world.handle(event).status == SAMPLES[name]
