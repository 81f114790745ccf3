"""Turns of the real chat function in this process, with stores and the provider's stand-in on the local cloud."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import batched
from pathlib import Path
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any

import httpx

from benchmarks.warm_turn import WIDE, physical_tables, stages
from fencepost.bootstrap.chat import chat_handler
from fencepost.conversations.domain.messages import Conversation, Message, MessageStatus
from fencepost.conversations.rows.messages import conversation_item, message_row
from fencepost.http.endpoint import Handler
from fencepost.identity.domain.scope import Action, Scope, Visitor, authorize, own
from fencepost.kernel.aws import session as store
from fencepost.kernel.aws.rows import to_item
from fencepost.model.domain import Role
from local import emulator
from local.cloud import Cloud, started
from local.state import StateFolder

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, WriteRequestTypeDef

LENGTHS = (0, 100, 10_000)
"""Numbers of messages of the conversations that turns continue."""
QUESTION = "How is Fencepost installed?"
"""Complete in itself, so that its search text is the same in every conversation."""
SITE = "demo"
_WRITTEN_AT_ONCE = 25
_OK = 200


@dataclass
class StoreMeter:
    """Counts one client's operations, items and capacity units, and measures the time spent waiting for them."""

    operations: int = 0
    items: int = 0
    units: float = 0.0
    waits: list[tuple[float, float]] = field(default_factory=list)
    _began: dict[int, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def watch(self, client: DynamoDBClient) -> None:
        """Start counting."""
        client.meta.events.register("provide-client-params.dynamodb", self._ask)
        client.meta.events.register("before-send.dynamodb", self._begin)
        client.meta.events.register("after-call.dynamodb", self._end)

    def reset(self) -> None:
        """Reset all counters."""
        self.operations, self.items, self.units, self.waits = 0, 0, 0.0, []

    @property
    def milliseconds(self) -> float:
        """The time during which at least one operation was in progress."""
        waited, end = 0.0, 0.0
        for began, ended in sorted(self.waits):
            waited += max(0.0, ended - max(began, end))
            end = max(end, ended)
        return waited * 1_000

    def _ask(self, params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"
        with self._lock:
            self.items += len(params.get("TransactItems", ())) + ("UpdateExpression" in params)

    def _begin(self, **_: Any) -> None:
        self._began[get_ident()] = time.perf_counter()

    def _end(self, parsed: dict[str, Any], **_: Any) -> None:
        consumed = parsed.get("ConsumedCapacity", [])
        with self._lock:
            self.operations += 1
            self.items += sum(map(len, parsed.get("Responses", {}).values()))
            self.items += parsed.get("ScannedCount", 0) + ("Item" in parsed)
            self.units += sum(one["CapacityUnits"] for one in (consumed if isinstance(consumed, list) else [consumed]))
            self.waits.append((self._began[get_ident()], time.perf_counter()))


@dataclass(frozen=True)
class MeasuredTurn:
    """One turn, its times in milliseconds.

    Attributes:
        own: time without the provider and the stores.
        stores: time of the stores.
        operations, items, units: store operations, items read, checked and written, and consumed capacity.
        retrieval: time spent waiting for passages, without the part that overlaps the load.
        degraded: whether some passages missed the deadline.
    """

    own: float
    stores: float
    operations: int
    items: int
    units: float
    retrieval: float
    degraded: bool

    @property
    def beside_the_provider(self) -> float:
        """The time of the whole turn without the provider."""
        return self.own + self.stores


@dataclass(frozen=True)
class Turning:
    """The function, and a visitor of the demo site."""

    cloud: Cloud
    handler: Handler
    meter: StoreMeter
    token: str
    scope: Scope
    log: io.StringIO

    def turn(self, conversation_id: str | None, question: str = QUESTION) -> MeasuredTurn:
        """Run one turn, which must be answered."""
        event = self._event(conversation_id, question)
        self.meter.reset()
        self.log.truncate(0)
        began = time.perf_counter()
        with contextlib.redirect_stdout(self.log):
            answer = self.handler(event, None)
        milliseconds = (time.perf_counter() - began) * 1_000
        if answer["statusCode"] != _OK:
            raise SystemExit(f"the turn answered {answer}")
        stores, logged = self.meter.milliseconds, stages(self.log.getvalue())
        return MeasuredTurn(
            own=milliseconds - stores - logged.get("provider", 0.0),
            stores=stores,
            operations=self.meter.operations,
            items=self.meter.items,
            units=self.meter.units,
            retrieval=logged.get("retrieve", 0.0),
            degraded=json.loads(answer["body"]).get("degraded", False),
        )

    def per_second(self, clients: int, turns: int) -> float:
        """Return the turns per second of several clients, each with a separate function and conversation."""
        with contextlib.redirect_stdout(self.log), ThreadPoolExecutor(clients) as pool:
            handlers = [chat_handler() for _ in range(clients)]
            list(pool.map(lambda handler: self._talk(handler, 1), handlers))
            began = time.perf_counter()
            list(pool.map(lambda handler: self._talk(handler, turns), handlers))
            return clients * turns / (time.perf_counter() - began)

    def _talk(self, handler: Handler, turns: int) -> None:
        conversation = None
        for _ in range(turns):
            answer = handler(self._event(conversation), None)
            if answer["statusCode"] != _OK:
                raise SystemExit(f"a turn answered {answer}")
            conversation = json.loads(answer["body"])["conversationId"]

    def conversation(self, messages: int) -> str | None:
        """Store a conversation of this length, without pointers; with None, each turn starts a new one."""
        if not messages:
            return None
        now, name = datetime.now(UTC), f"c{messages}"
        row = Conversation(
            id=name, site=SITE, incarnation=name, title="", created_at=now, updated_at=now, next_seq=messages + 1
        )
        rows = [conversation_item(self.scope, row)]
        rows += [_message(self.scope, name, seq, now) for seq in range(1, messages + 1)]
        self._write(rows)
        return name

    def _write(self, rows: list[dict[str, AttributeValueTypeDef]]) -> None:
        client, table = self.cloud.emulator.client("dynamodb"), physical_tables(self.cloud)["ConversationsTable"]
        for some in batched(rows, _WRITTEN_AT_ONCE, strict=False):
            requests: list[WriteRequestTypeDef] = [{"PutRequest": {"Item": row}} for row in some]
            client.batch_write_item(RequestItems={table: requests})

    def _event(self, conversation_id: str | None, question: str = QUESTION) -> dict[str, Any]:
        return {
            "httpMethod": "POST",
            "resource": "/v1/chat",
            "headers": {"content-type": "application/json", "authorization": f"Bearer {self.token}"},
            "body": json.dumps({"message": question, "conversationId": conversation_id}),
            "isBase64Encoded": False,
            "requestContext": {
                "requestId": "r",
                "domainName": "d",
                "stage": "live",
                "identity": {"sourceIp": "192.0.2.1"},
            },
        }


@contextmanager
def turning() -> Iterator[Turning]:
    """Start the local cloud, and build the chat function in this process from its deployed environment."""
    os.environ.update(emulator.CREDENTIALS)
    with tempfile.TemporaryDirectory() as folder, started(StateFolder(Path(folder)), 0, WIDE, print) as cloud:
        rest(cloud)
        token, visitor_id = new_visitor(cloud)
        os.environ.update(environment(cloud, "ChatFunction"), AWS_ENDPOINT_URL=cloud.emulator.endpoint_url)
        # The emulator takes seconds to read ten thousand rows; this wait is not part of the measurement.
        store.READ_TIMEOUT_SECONDS = 60
        meter, log, visitor = StoreMeter(), io.StringIO(), Visitor("demo", "demo", visitor_id)
        meter.watch(store.dynamodb_client())
        with contextlib.redirect_stdout(log):
            handler = chat_handler()
        yield Turning(cloud, handler, meter, token, authorize(visitor, Action.CHAT, own(visitor)), log)


def rest(cloud: Cloud) -> None:
    """Stop jobs from starting after writes: they would compete for the CPU with the measured turns."""
    client = cloud.emulator.client("lambda")
    for mapping in client.list_event_source_mappings()["EventSourceMappings"]:
        client.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)


def new_visitor(cloud: Cloud) -> tuple[str, str]:
    """Return a visitor token, and the visitor id in it."""
    answer = httpx.post(f"{cloud.url}/v1/visitors", json={"site": SITE}, timeout=60, trust_env=False)
    answer.raise_for_status()
    return answer.json()["token"], answer.json()["visitorId"]


def environment(cloud: Cloud, logical: str) -> dict[str, str]:
    """Return the environment of a deployed function."""
    name = next(name for name in cloud.deployment.functions if logical in name)
    configuration = cloud.emulator.client("lambda").get_function_configuration(FunctionName=name)
    variables: dict[str, str] = configuration["Environment"]["Variables"]
    return variables


def _message(scope: Scope, conversation: str, seq: int, now: datetime) -> dict[str, AttributeValueTypeDef]:
    asked = bool(seq % 2)
    message = Message(
        id=f"{conversation}-{(seq + 1) // 2}{'' if asked else '.1'}",
        seq=seq,
        role=Role.USER if asked else Role.ASSISTANT,
        content=f"Something was {'asked' if asked else 'answered'} here, in number {seq}, at some length.",
        created_at=now,
        status=MessageStatus.ANSWERED if asked else MessageStatus.COMPLETE,
        reply_to=None if asked else seq - 1,
    )
    return to_item(message) | message_row(scope, conversation, seq)
