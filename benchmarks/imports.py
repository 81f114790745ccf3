"""Import and init time of each handler against the bare SDKs, and the modules that a rate-limited request loads.

Each measurement runs in a new process and alternates with its baseline, so that other load on the machine slows both.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.report import Row, print_table

ROOT = Path(__file__).resolve().parent.parent
RUNS = 5
SDKS = "import anthropic, boto3; boto3.client('dynamodb'); anthropic.Anthropic(api_key='none')"
AWS_SDK = "import boto3; boto3.client('dynamodb')"
HANDLER = "from app import handler"
REQUEST = """
from app import handler
event = {"httpMethod": "POST", "resource": "/api/ai-chat", "headers": {"content-type": "application/json"},
         "body": '{"message": "Hello"}', "isBase64Encoded": False,
         "requestContext": {"requestId": "r", "domainName": "d", "identity": {"sourceIp": "192.0.2.1"}}}
assert handler(event, None)["statusCode"] == 429
"""
TIMED = """
import json, sys, time
began = time.perf_counter()
exec(sys.argv[1])
seconds = time.perf_counter() - began
print(json.dumps({"seconds": seconds, "modules": sorted(sys.modules)}))
"""


@dataclass(frozen=True)
class Loaded:
    """The seconds that a process took to run some code, and the modules loaded afterwards."""

    seconds: float
    modules: frozenset[str]


def load(code: str, function: str, **variables: str) -> Loaded:
    """Run code in a new process that can import a function's handler and the source layer."""
    path = os.pathsep.join(str(ROOT / part) for part in (f"functions/{function}", "layers/core/python"))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "AWS_DEFAULT_REGION": "us-east-1"} | variables
    run = subprocess.run([sys.executable, "-c", TIMED, code], env=environment, capture_output=True, check=True)
    result = json.loads(run.stdout.splitlines()[-1])
    return Loaded(result["seconds"], frozenset(result["modules"]))


def compare(title: str, function: str, baseline: str, **variables: str) -> Row:
    """Return a handler's time divided by its baseline's, both medians of alternating runs."""
    turns = [(load(HANDLER, function, **variables), load(baseline, function)) for _ in range(RUNS)]
    ours, theirs = (statistics.median(side.seconds for side in sides) for sides in zip(*turns, strict=True))
    return Row(title, f"{ours * 1_000:.0f} ms", f"{theirs * 1_000:.0f} ms", f"{ours / theirs:.2f}×")


class _Stores(BaseHTTPRequestHandler):
    """Secrets Manager with one secret, and a DynamoDB in which every condition fails."""

    def do_POST(self) -> None:
        """Answer requests to either service in its JSON protocol."""
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["X-Amz-Target"].startswith("secretsmanager"):
            self._answer(200, {"Name": "s", "ARN": "s", "VersionId": "1", "SecretString": "x" * 64})
        else:
            refused = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
            self._answer(400, {"__type": refused, "Item": {"today": {"N": "9"}}})

    def _answer(self, status: int, body: dict[str, object]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - the base class names it so
        """Log nothing."""


@contextmanager
def stores() -> Iterator[dict[str, str]]:
    """Serve the stores, and yield the environment variables with their addresses."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Stores) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        keys = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "FENCEPOST_SIGNING_SECRET": "s"}
        yield {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}", "FENCEPOST_LIMITS_TABLE": "t", **keys}
        server.shutdown()


def limiter_path() -> Iterator[Row]:
    """Count the modules loaded for a request that the address limits refuse."""
    with stores() as variables:
        modules = load(REQUEST, "chat", **variables).modules
    baseline = load(AWS_SDK, "chat").modules
    ratio = f"{len(modules) / len(baseline):.2f}×"
    yield Row("modules loaded by a request that the limiter ends", str(len(modules)), f"{len(baseline)} (boto3)", ratio)
    provider = sum(name.split(".")[0] == "anthropic" for name in modules)
    yield Row("of them the provider's SDK", str(provider))


def rows() -> Iterator[Row]:
    """Measure everything."""
    snapshot = {"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start"}
    yield compare("chat: import and init for a snapshot, against both SDKs", "chat", SDKS, **snapshot)
    yield compare("chat: import and init without SnapStart, against both SDKs", "chat", SDKS)
    yield compare("chat: import and init without SnapStart, against boto3 alone", "chat", AWS_SDK)
    for function in ("api", "relay", "jobs", "meta"):
        yield compare(f"{function}: import and init without SnapStart, against boto3 alone", function, AWS_SDK)
    yield from limiter_path()


if __name__ == "__main__":
    print_table(rows())
