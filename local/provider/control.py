"""Control of the stand-in by tests: instructions for the next calls, and a record of received calls. On loopback only.

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
    """Behaviour of one call that differs from a normal answer.

    Attributes:
        status: answer with this error status, with `headers` and `message`.
        delay: seconds before anything is sent.
        pace: seconds between the events of a stream.
        fault: failure in mid-stream: the connection is cut, stalls for `stall` seconds, an `error` event of kind
            `error` comes, the data is not JSON, or unknown events are sent (and the stream continues).
        stop_reason: why the answer ends.
        text: the answer.
        times: number of calls that the instruction applies to.
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
        """Queue instructions for the next calls."""
        for instruction in orders.next:
            self._next.extend([instruction] * instruction.times)
        self.pace = self.pace if orders.pace is None else orders.pace

    def take(self, headers: Mapping[str, str]) -> Instruction:
        """Return the instruction of a call: from its header, or else from the queue.

        Raises:
            ValidationError: the header holds no valid instruction.
        """
        if HEADER in headers:
            return Instruction.model_validate_json(headers[HEADER])
        return self._next.popleft() if self._next else Instruction()

    def record(self, headers: Mapping[str, str], body: bytes) -> None:
        """Record a call without its credentials. Keeps the last hundred calls."""
        self.count += 1
        kept: dict[str, JsonValue] = {name: value for name, value in headers.items() if name not in _SECRET_HEADERS}
        self._requests.append({"number": self.count, "headers": kept, "body": _parsed(body)})

    def received(self) -> dict[str, JsonValue]:
        """Return the number of calls, and the recorded ones."""
        return {"count": self.count, "requests": list(self._requests)}

    def reset(self) -> None:
        """Delete all instructions and recorded calls."""
        self.count = 0
        self._next.clear()
        self._requests.clear()


def from_loopback(request: Request) -> bool:
    """Return whether peer and `Host` are loopback, which keeps out pages in a browser, DNS rebinding included."""
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
