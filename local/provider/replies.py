"""Wire format of an answer: one JSON message, or a stream of server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from starlette.responses import StreamingResponse
from starlette.types import Send

from local.provider.control import Instruction
from local.provider.errors import error_body
from local.provider.usage import InputUsage, count_tokens

_PIECE_CHARACTERS = 12

_Data = dict[str, object]


@dataclass(frozen=True, slots=True)
class ProviderReply:
    """A finished answer."""

    id: str
    model: str
    text: str
    stop_reason: str
    usage: InputUsage

    def message(self) -> _Data:
        """Return the answer as one JSON message."""
        content = [{"type": "text", "text": self.text}] if self.text else []
        usage = self.usage.as_json() | {"output_tokens": self.output_tokens, "service_tier": "standard"}
        return self._head() | {"content": content, "stop_reason": self.stop_reason, "usage": usage}

    @property
    def output_tokens(self) -> int:
        """Return the tokens of the text; an empty answer counts one, as with the provider."""
        return max(1, count_tokens(self.text))

    def events(self) -> Iterator[_Data]:
        """Yield the events of a stream, in order."""
        usage = self.usage.as_json() | {"output_tokens": 1, "service_tier": "standard"}
        yield {"type": "message_start", "message": self._head() | {"usage": usage}}
        yield {"type": "ping"}
        if self.text:
            yield from self._content_events()
        delta = {"stop_reason": self.stop_reason, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": self.output_tokens}}
        yield {"type": "message_stop"}

    def _content_events(self) -> Iterator[_Data]:
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        for start in range(0, len(self.text), _PIECE_CHARACTERS):
            piece = self.text[start : start + _PIECE_CHARACTERS]
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        yield {"type": "content_block_stop", "index": 0}

    def _head(self) -> _Data:
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }


class EventStream(StreamingResponse):
    """The events of a reply at a given pace, with the instruction's fault in mid-stream."""

    def __init__(self, reply: ProviderReply, instruction: Instruction, pace: float) -> None:
        self._instruction = instruction
        self._pace = pace
        super().__init__(
            self._encoded(list(reply.events())), media_type="text/event-stream", headers={"cache-control": "no-cache"}
        )

    async def stream_response(self, send: Send) -> None:
        """Send everything. A response without its end makes the server cut the connection."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for chunk in self.body_iterator:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if self._instruction.fault != "cut":
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _encoded(self, events: list[_Data]) -> AsyncIterator[bytes]:
        middle = len(events) // 2
        for number, event in enumerate(events):
            if number == middle and self._instruction.fault:
                yield await self._fault()
                if self._instruction.fault not in ("stall", "unknown_events"):
                    return
            yield _event(str(event["type"]), event)
            await asyncio.sleep(self._pace)

    async def _fault(self) -> bytes:
        match self._instruction.fault:
            case "stall":
                await asyncio.sleep(self._instruction.stall)
            case "error":
                return _event("error", error_body(self._instruction.error, self._instruction.message))
            case "garbage":
                return b"event: content_block_delta\ndata: {no JSON \xff\n\n"
            case "unknown_events":
                delta = {"type": "telepathy_delta", "thought": "?"}
                block = {"type": "content_block_delta", "index": 0, "delta": delta}
                weather = _event("weather_report", {"type": "weather_report", "sky": "blue"})
                return weather + _event("content_block_delta", block)
        return b""


def _event(name: str, data: _Data) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
