"""Whatever happens to a request, no word of it and no secret of ours is left behind.

Marked strings go through the endpoint with the stores, the log and the metrics of production. For each outcome
everything is collected that an operator or a visitor can see afterwards: lines, audit items and error bodies.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from mypy_boto3_dynamodb import DynamoDBClient

from fencepost.kernel.money import Usage
from fencepost.limits.dynamodb.ledger import DynamoDbLedger
from fencepost.limits.dynamodb.limiter import DynamoDbAddressLimiter
from fencepost.model.ports import Completion
from fencepost.observability.dynamodb.audit import DynamoDbAuditTrail
from fencepost.observability.powertools.log import LambdaEvents
from fencepost.web.meta import handler as meta
from fencepost.web.routes import ROUTES
from local import processes, template
from local.emulator import Emulator
from tests.fakes.answers import FakeKeys
from tests.integration.canary_scenes import (
    ADDRESS,
    ANSWER,
    CANARIES,
    EDGE_SECRET,
    HEADERS,
    MESSAGE,
    PROVIDER_KEY,
    PUBLIC,
    SCENES,
    SITE,
    Scene,
)
from tests.worlds.chat import FakeDocuments, FakeModel, Reply, World, proxy_event


@dataclass(frozen=True)
class Stage:
    """Tables under marked names, and a store that nobody answers for."""

    client: DynamoDBClient
    tables: dict[str, str]

    def play(self, scene: Scene) -> tuple[World, Reply]:
        """Send the scene's request through a world of its own."""
        world = self._world(scene)
        event = {"headers": HEADERS, "source_ip": ADDRESS, **scene.event}
        replies = [world.send(scene.body, **event) for _ in range(scene.requests)]
        return world, replies[-1]

    def stored(self, table: str) -> list[dict[str, Any]]:
        """Return all items of a table."""
        items: list[dict[str, Any]] = self.client.scan(TableName=self.tables[table])["Items"]
        return items

    def _world(self, scene: Scene) -> World:
        log = LambdaEvents(service=f"test-{uuid4()}")
        keys = FakeKeys(PROVIDER_KEY, EDGE_SECRET)
        usual: dict[str, Any] = {
            "log": log,
            "keys": keys,
            "documents": FakeDocuments(SITE),
            "model": FakeModel(lambda: Completion(ANSWER, Usage(100, 0, 0, 10), 0.1)),
            "limiter": DynamoDbAddressLimiter(self.tables["limits"], keys, self._client(scene, "limiter")),
            "ledger": DynamoDbLedger(self.tables["ledger"], self._client(scene, "ledger")),
            "audit": DynamoDbAuditTrail(self.tables["audit"], log, self._client(scene, "audit")),
        }
        return World(**{**usual, **scene.world})

    def _client(self, scene: Scene, store: str) -> Callable[[], DynamoDBClient]:
        return unreachable if scene.unreachable == store else lambda: self.client


def unreachable() -> DynamoDBClient:
    return boto3.client(
        "dynamodb",
        endpoint_url=f"http://127.0.0.1:{processes.free_port()}/canary",
        config=Config(retries={"total_max_attempts": 1}),
    )


@pytest.fixture
def stage(emulator: Emulator) -> Stage:
    client: DynamoDBClient = emulator.client("dynamodb")
    tables = {name: f"canary-{name}-{uuid4()}" for name in ("limits", "ledger", "audit")}
    for name, table in tables.items():
        properties = template.load()["Resources"][f"{name.capitalize()}Table"]["Properties"]
        wanted = {key: properties[key] for key in ("BillingMode", "AttributeDefinitions", "KeySchema")}
        client.create_table(TableName=table, **wanted)
    return Stage(client, tables)


def visible(stage: Stage, reply: Reply, capsys: pytest.CaptureFixture[str]) -> str:
    """Return all that is left for somebody to read, but for what is public on purpose."""
    error = "" if reply.status == 200 else reply.text
    output = capsys.readouterr()
    text = "\n".join((output.out, output.err, error, json.dumps(reply.headers), json.dumps(stage.stored("audit"))))
    return text.replace(PUBLIC, "")


@pytest.mark.parametrize("outcome", SCENES)
def test_no_canary_is_left_behind(outcome: str, stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    _, reply = stage.play(SCENES[outcome])
    text = visible(stage, reply, capsys)
    hashes = [item["pk"]["S"].removeprefix("address#") for item in stage.stored("limits")]
    assert f'"outcome":"{outcome}"' in text
    assert [mark for mark in (*CANARIES, *hashes) if mark.lower() in text.lower()] == []


def test_every_outcome_has_a_scene() -> None:
    (chat,) = (route for route in ROUTES if route.path == "/api/ai-chat")
    assert {"answered", "demo", "preflight", *chat.errors} <= SCENES.keys()


def test_the_canaries_were_there_to_be_found(stage: Stage) -> None:
    world, reply = stage.play(SCENES["answered"])
    assert "canary-answer" in reply.text
    assert isinstance(world.model, FakeModel)
    assert MESSAGE in str(world.model.prompts)
    assert stage.stored("limits")
    assert [item["outcome"]["S"] for item in stage.stored("audit")] == ["answered"]


def test_an_audit_that_fails_says_so_and_names_nothing(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    _, reply = stage.play(Scene(unreachable="audit"))
    assert reply.status == 200
    text = visible(stage, reply, capsys)
    assert "audit_failed" in text
    assert [mark for mark in CANARIES if mark in text] == []


def test_the_meta_function_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    reply = meta(proxy_event(MESSAGE, headers=HEADERS, resource="/canary", source_ip=ADDRESS), None)
    assert reply["statusCode"] == 404
    assert capsys.readouterr() == ("", "")
    assert "canary" not in reply["body"]
