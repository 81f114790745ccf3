"""A gate between the deployed functions and the emulated DynamoDB, to act in the middle of a turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.doubles.servers import serve
from tests.doubles.stack import Stack

_ENDPOINT = "AWS_ENDPOINT_URL_DYNAMODB"
_HOP_BY_HOP = frozenset({"connection", "content-length", "transfer-encoding", "keep-alive"})

type Operation = tuple[str, dict[str, Any]]
"""The operation's name, e.g. `TransactWriteItems`, and its request."""


@dataclass
class StoreGate:
    """Lets every operation through.

    Attributes:
        seen: the operations that passed, in their order.
        after: called once, when the first operation that it names has been answered by the store and before the
            function learns of it.
    """

    seen: list[Operation] = field(default_factory=list)
    after: tuple[Callable[[Operation], bool], Callable[[], None]] | None = None
    _lock: Lock = field(default_factory=Lock)

    def passed(self, operation: Operation) -> None:
        """Note an operation that was answered, and act where it is the one."""
        with self._lock:
            self.seen.append(operation)
            due = self.after if self.after and self.after[0](operation) else None
            self.after = None if due else self.after
        if due:
            due[1]()


@contextmanager
def gated(stack: Stack, logical: str) -> Iterator[StoreGate]:
    """Let one function reach DynamoDB through a gate for as long as the context lasts."""
    gate = StoreGate()
    address = stack.cloud.emulator.endpoint_url
    with (
        httpx.Client(base_url=address, timeout=60, trust_env=False) as http,
        serve(_app(gate, http)) as url,
        _pointed_at(stack, logical, url),
    ):
        yield gate


def is_claim(operation: Operation) -> bool:
    """Tell whether this is the transaction with which a turn takes its conversation."""
    name, request = operation
    return name == "TransactWriteItems" and "open_turn" in json.dumps(request)


def _app(gate: StoreGate, http: httpx.Client) -> Starlette:
    async def forward(request: Request) -> Response:
        body = await request.body()
        answer = await run_in_threadpool(_sent, http, dict(request.headers), body)
        target = request.headers.get("x-amz-target", "").rpartition(".")[2]
        await run_in_threadpool(gate.passed, (target, json.loads(body or b"{}")))
        headers = {name: value for name, value in answer.headers.items() if name not in _HOP_BY_HOP}
        return Response(answer.content, answer.status_code, headers)

    return Starlette(routes=[Route("/{path:path}", forward, methods=["POST"])])


def _sent(http: httpx.Client, headers: dict[str, str], body: bytes) -> httpx.Response:
    kept = {name: value for name, value in headers.items() if name not in {*_HOP_BY_HOP, "host", "accept-encoding"}}
    return http.post("/", content=body, headers=kept)


@contextmanager
def _pointed_at(stack: Stack, logical: str, url: str) -> Iterator[None]:
    """Publish a version of the function that finds DynamoDB at another address, and the old one at the end."""
    client, name = stack.client("lambda"), stack.physical(logical)
    before = client.get_alias(FunctionName=name, Name="live")["FunctionVersion"]
    variables = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    client.update_function_configuration(FunctionName=name, Environment={"Variables": {**variables, _ENDPOINT: url}})
    version = client.publish_version(FunctionName=name)["Version"]
    client.update_alias(FunctionName=name, Name="live", FunctionVersion=version)
    try:
        yield
    finally:
        client.update_alias(FunctionName=name, Name="live", FunctionVersion=before)
        client.update_function_configuration(FunctionName=name, Environment={"Variables": variables})
