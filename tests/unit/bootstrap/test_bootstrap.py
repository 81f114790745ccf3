"""What a process builds from its environment, and what it leaves alone. Each test starts a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
WATCHED = ("boto3", "anthropic", "httpx2")
AWS = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

# Prints the answer to a question, then the watched modules that were imported, before the answer and after it.
SCRIPT = f"""
import json, sys
import app
before = [name for name in {WATCHED!r} if name in sys.modules]
event = {{
    "resource": "/api/ai-chat", "httpMethod": "POST", "headers": {{"Content-Type": "application/json"}},
    "requestContext": {{"requestId": "r-1", "identity": {{"sourceIp": "203.0.113.7"}}}},
    "body": json.dumps({{"message": "Hello"}}),
}}
answer = app.handler(event, None)
after = [name for name in {WATCHED!r} if name in sys.modules]
print(json.dumps({{"answer": answer, "before": before, "after": after}}))
"""


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(map(str, [ROOT / "layers/core/python", ROOT / "functions/chat"]))
    return subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": paths, "PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def outcome(**environment: str) -> dict[str, Any]:
    result = run(SCRIPT, **environment)
    assert result.returncode == 0, result.stderr
    last: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return last


def test_neither_sdk_is_imported_before_it_is_needed() -> None:
    result = outcome()
    assert result["before"] == []


def test_the_demo_needs_nothing() -> None:
    result = outcome(FENCEPOST_DEMO_MODE="true", FENCEPOST_DEMO_REPLY="Hi!")
    assert json.loads(result["answer"]["body"])["response"] == "Hi!"
    assert result["after"] == []


def test_a_deployment_without_secrets_says_so() -> None:
    answer = outcome(**AWS)["answer"]
    assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (500, "misconfigured")


def test_a_snapshot_holds_what_a_turn_imports() -> None:
    result = outcome(AWS_LAMBDA_INITIALIZATION_TYPE="snap-start", **AWS)
    assert {"boto3", "anthropic"} <= set(result["before"])


@pytest.mark.parametrize(
    ("variable", "value"),
    [("FENCEPOST_DAILY_CALL_LIMIT", "1e9"), ("FENCEPOST_MODEL", "gpt-kumquat"), ("FENCEPOST_DEMO_MODE", "kumquat")],
)
def test_a_wrong_variable_stops_the_start_and_is_named(variable: str, value: str) -> None:
    result = run("import app", **{variable: value})
    assert result.returncode != 0
    assert "InvalidSettings" in result.stderr
    assert variable in result.stderr
    assert value not in result.stderr
