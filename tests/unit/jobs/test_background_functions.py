"""The relay, jobs and schedule functions, each in a separate process, with the sample events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from fencepost.identity.domain.sites import Site
from fencepost.kernel.aws.rows import to_item

ROOT = Path(__file__).resolve().parents[3]
WATCHED = ("boto3", "anthropic", "pypdf")
AWS = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
# Nobody comes by, however often the SDK tries again.
NOBODY = {
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "AWS_MAX_ATTEMPTS": "1",
    "FENCEPOST_JOBS_QUEUE": "http://127.0.0.1:9/0/jobs",
}

# Prints what the function answers to a sample event, then the watched modules that its start had imported.
SCRIPT = f"""
import json, sys
import app
started = [name for name in {WATCHED!r} if name in sys.modules]
answer = app.handler(json.loads(sys.argv[1]), None)
print(json.dumps({{"answer": answer, "started": started, "later": [n for n in {WATCHED!r} if n in sys.modules]}}))
"""


def run(function: str, event: str, **environment: str) -> dict[str, Any]:
    paths = os.pathsep.join(map(str, [ROOT / "layers/core/python", ROOT / "functions" / function]))
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, (ROOT / "events" / event).read_text()],
        env={"PYTHONPATH": paths, "PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    printed: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return printed


def failed(printed: dict[str, Any]) -> list[str]:
    return [failure["itemIdentifier"] for failure in printed["answer"]["batchItemFailures"]]


@pytest.mark.parametrize(("function", "event"), [("relay", "relay.json"), ("jobs", "jobs-poison.json")])
def test_the_demo_needs_nothing(function: str, event: str) -> None:
    printed = run(function, event, FENCEPOST_DEMO_MODE="true")
    assert (failed(printed), printed["later"]) == ([], [])


@pytest.mark.parametrize("environment", [{"FENCEPOST_DEMO_MODE": "true"}, AWS | NOBODY])
def test_without_an_index_the_schedule_asks_nobody(environment: dict[str, str]) -> None:
    printed = run("schedule", "schedule.json", **environment)
    assert (printed["answer"], printed["later"]) == (None, [])


def test_a_record_that_cannot_be_relayed_comes_again() -> None:
    printed = run("relay", "relay.json", **AWS, **NOBODY)
    assert failed(printed) == ["100000000001"]
    assert printed["started"] == []


def test_a_job_that_no_store_answers_for_comes_again_and_imports_no_model() -> None:
    printed = run("jobs", "jobs.json", **AWS, **NOBODY)
    assert len(failed(printed)) == 1
    assert printed["started"] == []
    assert "anthropic" not in printed["later"]


KNOWN = {
    "FENCEPOST_DIRECTORY": {"Item": to_item(Site(org="demo", id="demo", key="demo"))},
    "FENCEPOST_CORPUS": {"Items": []},
}


class Cloud(BaseHTTPRequestHandler):
    """Knows the directory's one site and that no document is due, and refuses all else."""

    asked: list[str]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.asked.append(body)
        found = next((answer for table, answer in KNOWN.items() if table in body), None)
        answer = json.dumps(found or {}).encode()
        self.send_response(200 if found else 403)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def cloud() -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a cloud, and what it is asked."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Asked", (Cloud,), {"asked": asked}))
    Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


def test_with_the_tenant_role_a_job_reads_nothing_of_anybodys_by_the_functions_own_role() -> None:
    with cloud() as (url, asked):
        names = {
            "FENCEPOST_DIRECTORY_TABLE": "FENCEPOST_DIRECTORY",
            "FENCEPOST_CONVERSATIONS_TABLE": "FENCEPOST_CONVERSATIONS",
            "FENCEPOST_TENANT_ROLE": "arn:aws:iam::000000000000:role/organisation",
        }
        printed = run("jobs", "jobs.json", **AWS, **NOBODY | {"AWS_ENDPOINT_URL": url} | names)
    assert len(failed(printed)) == 1
    [assumed] = [body for body in asked if "Action=AssumeRole" in body]
    assert "Tags.member.1.Key=org&Tags.member.1.Value=demo" in assumed
    assert not any("FENCEPOST_CONVERSATIONS" in body for body in asked)


def test_the_schedule_starts_without_an_sdk_and_asks_what_is_due_of_all_organisations_at_once() -> None:
    with cloud() as (url, asked):
        names = {"FENCEPOST_INDEX": "embedded", "FENCEPOST_CORPUS_TABLE": "FENCEPOST_CORPUS"}
        printed = run("schedule", "schedule.json", **AWS, **NOBODY | {"AWS_ENDPOINT_URL": url} | names)
    assert (printed["answer"], printed["started"]) == (None, [])
    (query,) = map(json.loads, asked)
    assert query["IndexName"] == "agenda"
    assert {"S": "due"} in query["ExpressionAttributeValues"].values()
