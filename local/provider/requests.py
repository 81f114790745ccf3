"""Validation of requests to `POST /v1/messages`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from local.provider.errors import ApiError
from local.provider.models import MODELS

_MAX_BREAKPOINTS = 4


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CacheControl(_Strict):
    """Marks the end of a prefix to cache."""

    type: Literal["ephemeral"]
    ttl: Literal["5m"] = "5m"


class TextBlock(_Strict):
    """A text block of a prompt."""

    type: Literal["text"]
    text: str
    cache_control: CacheControl | None = None


class ProviderMessage(_Strict):
    """One turn of a prompt."""

    role: Literal["user", "assistant"]
    content: str | list[TextBlock]

    def blocks(self) -> list[TextBlock]:
        """Return the content as blocks; a bare string is one block."""
        return _as_blocks(self.content)


class Thinking(_Strict):
    """Options of extended thinking."""

    type: str
    budget_tokens: int | None = None


class MessagesRequest(_Strict):
    """Body of a request. Unknown fields are refused as by the provider, `temperature` among them."""

    model: str
    max_tokens: int = Field(ge=1)
    messages: list[ProviderMessage] = Field(min_length=1)
    system: str | list[TextBlock] = ""
    stream: bool = False
    thinking: Thinking | None = None
    output_config: dict[str, JsonValue] | None = None
    metadata: dict[str, JsonValue] | None = None

    def system_blocks(self) -> list[TextBlock]:
        """Return the system prompt as blocks."""
        return _as_blocks(self.system) if self.system else []

    def blocks(self) -> Iterator[TextBlock]:
        """Yield all blocks in the order in which a prefix is cached."""
        return (block for _, block in self.placed_blocks())

    def placed_blocks(self) -> Iterator[tuple[str, TextBlock]]:
        """Yield all blocks, each with its place: the system prompt, or the role of its turn."""
        yield from (("system", block) for block in self.system_blocks())
        for number, message in enumerate(self.messages):
            yield from ((f"{message.role} {number}", block) for block in message.blocks())


def parse(body: bytes) -> MessagesRequest:
    """Read and check a body.

    Raises:
        ApiError: 400 or 404, worded like the provider's.
    """
    try:
        request = MessagesRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        raise ApiError(400, f"{where}: {first['msg']}") from None
    for problem in _problems(request):
        raise ApiError(400, problem)
    return request


def _problems(request: MessagesRequest) -> Iterator[str]:
    if request.model not in MODELS:
        raise ApiError(404, f"model: {request.model}")
    if request.thinking and request.thinking.type not in MODELS[request.model].thinking:
        yield f'"thinking.type.{request.thinking.type}" is not supported for this model.'
    yield from _turn_problems(request.messages)
    for block in request.blocks():
        if not block.text.strip():
            yield "messages: text content blocks must contain non-whitespace text"
    marked = sum(block.cache_control is not None for block in request.blocks())
    if marked > _MAX_BREAKPOINTS:
        yield f"A maximum of {_MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {marked}."


def _turn_problems(messages: list[ProviderMessage]) -> Iterator[str]:
    roles = [message.role for message in messages]
    if roles[0] != "user":
        yield 'messages: first message must use the "user" role'
    if roles[-1] != "user":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    if any(role == following for role, following in pairwise(roles)):
        yield 'messages: roles must alternate between "user" and "assistant", but found multiple in a row'
    if not all(message.blocks() for message in messages):
        yield "messages: all messages must have non-empty content"


def _as_blocks(content: str | list[TextBlock]) -> list[TextBlock]:
    return [TextBlock(type="text", text=content)] if isinstance(content, str) else content
