"""How tests drive the stand-in: what the next calls do, and which calls came. On loopback only.

`POST /control` with `{"next": [{"status": 529}, …], "pace": 0.02}`; `DELETE /control` resets everything;
`GET /control/requests` lists the calls. A single call can carry its own instruction as JSON in `x-stand-in`.
"""

from __future__ import annotations

import ipaddress
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from starlette.requests import Request

HEADER = "x-stand-in"
_KEPT_REQUESTS = 100
_SECRET_HEADERS = frozenset({"authorization", "x-api-key"})
_BODY = TypeAdapter(dict[str, JsonValue])


class Instruction(BaseModel):
    """What one call does instead of answering well.

    Attributes:
        status: answer with this error status, with `headers` and `message`.
        delay: seconds before anything is sent.
        pace: seconds between the pieces of a stream.
        fault: what happens in mid-stream: the connection is cut, stalls for `stall` seconds, an `error` event of kind
            `error` comes, the data is no JSON, or events come that no client knows (and the stream goes on).
        stop_reason: why the answer ends.
        text: the answer.
        times: for how many calls this holds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: int | None = Field(None, ge=300, le=599)
    headers: dict[str, str] = {}
    message: str = "told to fail"
    delay: float = Field(0.0, ge=0)
    pace: float | None = Field(None, ge=0)
    fault: Literal["cut", "stall", "error", "garbage", "unknown_events"] | None = None
    stall: float = Field(60.0, ge=0)
    error: str = "overloaded_error"
    stop_reason: str | None = None
    text: str | None = None
    times: int = Field(1, ge=1)


class Orders(BaseModel):
    """The body of `POST /control`."""

    model_config = ConfigDict(extra="forbid")

    next: list[Instruction] = []
    pace: float | None = Field(None, ge=0)


@dataclass(slots=True)
class Control:
    """The stand-in's state between calls: pending instructions and received requests."""

    pace: float
    count: int = 0
    _next: deque[Instruction] = field(default_factory=deque)
    _requests: deque[dict[str, JsonValue]] = field(default_factory=lambda: deque(maxlen=_KEPT_REQUESTS))

    def order(self, orders: Orders) -> None:
        """Queue instructions for the calls to come."""
        for instruction in orders.next:
            self._next.extend([instruction] * instruction.times)
        self.pace = self.pace if orders.pace is None else orders.pace

    def take(self, headers: Mapping[str, str]) -> Instruction:
        """Return what this call is told to do: by its own header, or by the queue.

        Raises:
            ValidationError: the header is no instruction.
        """
        if HEADER in headers:
            return Instruction.model_validate_json(headers[HEADER])
        return self._next.popleft() if self._next else Instruction()

    def record(self, headers: Mapping[str, str], body: bytes) -> None:
        """Keep a call, without its credentials; of many calls the last hundred."""
        self.count += 1
        kept: dict[str, JsonValue] = {name: value for name, value in headers.items() if name not in _SECRET_HEADERS}
        self._requests.append({"number": self.count, "headers": kept, "body": _parsed(body)})

    def received(self) -> dict[str, JsonValue]:
        """Return how many calls came, and the last of them."""
        return {"count": self.count, "requests": list(self._requests)}

    def reset(self) -> None:
        """Forget instructions and calls."""
        self.count = 0
        self._next.clear()
        self._requests.clear()


def from_loopback(request: Request) -> bool:
    """Tell whether peer and `Host` are loopback: a page in a browser, even by DNS rebinding, gets nowhere."""
    try:
        peer = ipaddress.ip_address(request.client.host if request.client else "")
    except ValueError:
        return False
    return peer.is_loopback and request.url.hostname in ("127.0.0.1", "localhost", "::1")


def _parsed(body: bytes) -> JsonValue:
    try:
        return _BODY.validate_json(body)
    except ValidationError:
        return None
