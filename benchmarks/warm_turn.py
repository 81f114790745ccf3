"""Time of a warm turn without the provider, against a bare Powertools "hello" with the same layers.

Run `python -m benchmarks.warm_turn`. It deploys the stack and the hello on one emulated cloud and invokes them
alternately. Times are the emulator's on this machine and are meaningful only as ratios.
"""

from __future__ import annotations

import base64
import io
import json
import os
import statistics
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.report import Row, print_table
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.requests import RateLimits
from fencepost.limits.dynamodb.ledger import DynamoDbLedger
from fencepost.limits.dynamodb.limiter import DynamoDbAddressLimiter
from fencepost.observability.domain.events import AuditRecord
from fencepost.observability.dynamodb.audit import DynamoDbAuditTrail
from fencepost.observability.powertools.log import LambdaEvents
from local import emulator, processes
from local.cloud import Cloud, started
from local.state import StateFolder

TURNS = 60
WIDE = {
    "RATE_LIMIT_PER_MINUTE": "100000",
    "RATE_LIMIT_PER_DAY": "1000000",
    "FENCEPOST_DAILY_CALL_LIMIT": "1000000",
    "FENCEPOST_DAILY_SPEND_LIMIT_USD": "1000",
}
HELLO = """
from aws_lambda_powertools import Logger, Metrics
logger, metrics = Logger(service="hello"), Metrics(namespace="Hello", service="hello")

@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event, context):
    logger.info("hello")
    metrics.add_metric(name="Requests", unit="Count", value=1)
    return {"statusCode": 200, "headers": {"Content-Type": "application/json"}, "body": '{"response": "hello"}'}
"""
QUESTION = {
    "httpMethod": "POST",
    "resource": "/api/ai-chat",
    "headers": {"content-type": "application/json"},
    "body": json.dumps({"message": "How do I install it?"}),
    "isBase64Encoded": False,
    "requestContext": {"requestId": "r", "domainName": "d", "stage": "live", "identity": {"sourceIp": "192.0.2.1"}},
}


@dataclass(frozen=True)
class Turn:
    """One invocation: milliseconds as measured by the caller, and `stages` as logged by the function."""

    milliseconds: float
    stages: dict[str, float]

    @property
    def beside_the_provider(self) -> float:
        """Return the time without the provider."""
        return self.milliseconds - self.stages.get("provider", 0.0)


def main() -> None:
    """Print the table."""
    os.environ.update(emulator.CREDENTIALS)
    with (
        tempfile.TemporaryDirectory() as folder,
        started(StateFolder(Path(folder)), processes.free_port(), WIDE, print) as cloud,
    ):
        print_table([*time_rows(cloud), store_row(cloud)])


def time_rows(cloud: Cloud) -> Iterator[Row]:
    """Yield the turn against the hello, and the time of its stages."""
    client = cloud.emulator.client("lambda")
    chat = next(name for name in cloud.deployment.functions if "ChatFunction" in name)
    hello = deploy_hello(client, chat)
    for function in (chat, hello):
        invoke(client, function)
    pairs = [(invoke(client, chat), invoke(client, hello)) for _ in range(TURNS)]
    turns, hellos = zip(*pairs, strict=True)
    ours = statistics.median(turn.beside_the_provider for turn in turns)
    theirs = statistics.median(turn.milliseconds for turn in hellos)
    title = "warm turn without the provider, against a Powertools hello"
    yield Row(title, f"{ours:.1f} ms", f"{theirs:.1f} ms", f"{ours / theirs:.2f}×")
    for stage in ("guard", "documents", "assemble", "reserve", "settle"):
        median = statistics.median(turn.stages[stage] for turn in turns)
        yield Row(f"of it: {stage}", f"{median:.1f} ms")


def deploy_hello(client: Any, like: str) -> str:
    """Create a function with the layers, memory and architecture of another, and return its name."""
    model = client.get_function_configuration(FunctionName=like)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("app.py", HELLO)
    client.create_function(
        FunctionName="hello",
        Runtime=model["Runtime"],
        Role=model["Role"],
        Handler="app.handler",
        Code={"ZipFile": archive.getvalue()},
        MemorySize=model["MemorySize"],
        Timeout=model["Timeout"],
        Architectures=model["Architectures"],
        Layers=[layer["Arn"] for layer in model["Layers"]],
    )
    return "hello"


def invoke(client: Any, function: str) -> Turn:
    """Invoke a function and time it; it must answer 200."""
    began = time.perf_counter()
    answer = client.invoke(FunctionName=function, Payload=json.dumps(QUESTION), LogType="Tail")
    milliseconds = (time.perf_counter() - began) * 1_000
    reply = json.loads(answer["Payload"].read())
    if reply.get("statusCode") != 200:  # noqa: PLR2004 - HTTP's OK
        raise SystemExit(f"{function} answered {reply}")
    return Turn(milliseconds, stages(base64.b64decode(answer["LogResult"]).decode()))


def stages(log: str) -> dict[str, float]:
    """Return the stage times in the request's event from a log."""
    lines = (json.loads(line) for line in log.splitlines() if line.startswith("{"))
    found: dict[str, float] = next((line["stages"] for line in lines if line.get("event") == "request"), {})
    return found


def store_row(cloud: Cloud) -> Row:
    """Count the table operations of one answered turn."""
    client = cloud.emulator.client("dynamodb")
    units: list[float] = []
    client.meta.events.register("provide-client-params.dynamodb", ask_for_units)
    client.meta.events.register("after-call.dynamodb", lambda parsed, **_: units.append(consumed(parsed)))
    now, tables = datetime(2026, 3, 1, 12, 0, tzinfo=UTC), physical_tables(cloud)
    keys = SecretKeys("signing", read=lambda _name, _anew: "a signing secret")
    ledger = DynamoDbLedger(tables["LedgerTable"], lambda: client)
    DynamoDbAddressLimiter(tables["LimitsTable"], keys, lambda: client).admit("192.0.2.9", RateLimits(9, 9), now)
    reservation = ledger.reserve(MicroDollars(9), Caps(9, MicroDollars(99)), now)
    ledger.settle(reservation, MicroDollars(3))
    trail = DynamoDbAuditTrail(tables["AuditTable"], LambdaEvents("benchmark"), lambda: client)
    trail.record(AuditRecord(time=now, outcome="answered"))
    return Row("store operations of an answered turn", f"{len(units)}, {sum(units):g} write units")


def ask_for_units(params: dict[str, Any], **_: Any) -> None:
    """Request the consumed capacity of an operation."""
    params["ReturnConsumedCapacity"] = "TOTAL"


def consumed(parsed: dict[str, Any]) -> float:
    """Return the capacity units in a response."""
    units: float = parsed["ConsumedCapacity"]["CapacityUnits"]
    return units


def physical_tables(cloud: Cloud) -> dict[str, str]:
    """Return the stack's tables by their logical names."""
    client = cloud.emulator.client("cloudformation")
    rows = client.describe_stack_resources(StackName="fencepost")["StackResources"]
    return {
        row["LogicalResourceId"]: row["PhysicalResourceId"] for row in rows if row["ResourceType"].endswith("Table")
    }


if __name__ == "__main__":
    main()
