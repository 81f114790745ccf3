"""The part of the adapter that needs the SDK. Importing this module takes seconds."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

import anthropic
import httpx2
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

from fencepost.kernel.errors import ErrorCode
from fencepost.model.anthropic.errors import failure_of
from fencepost.model.anthropic.usage import ReportedUsage
from fencepost.model.domain import ModelError
from fencepost.model.ports import Completion

if TYPE_CHECKING:
    from anthropic.types import RawMessageStreamEvent
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

_LOGGERS = ("anthropic", "httpx2", "httpcore2")

_FAILURES = (anthropic.AnthropicError, httpx2.HTTPError, httpx2.InvalidURL, TimeoutError)

_UNUSABLE = {
    "refusal": ErrorCode.PROVIDER_REFUSED,
    "max_tokens": ErrorCode.PROVIDER_TRUNCATED,
    "model_context_window_exceeded": ErrorCode.PROVIDER_CONTEXT_OVERFLOW,
}
"""Stop reasons after which the text is unusable. All others, unknown ones included, end a complete answer."""


def connect(key: str, base_url: str, connect_seconds: float, read_seconds: float) -> AsyncAnthropic:
    """Return a client that does not retry, follow redirects, or read the environment."""
    for name in _LOGGERS:
        # At DEBUG these write whole requests.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    timeout = httpx2.Timeout(read_seconds, connect=connect_seconds)
    # No idle connections: one that died while the instance was frozen would fail a call, which is not retried.
    limits = httpx2.Limits(max_keepalive_connections=0)
    transport = DefaultAsyncHttpxClient(follow_redirects=False, trust_env=False, timeout=timeout, limits=limits)
    return AsyncAnthropic(
        api_key=key,
        base_url=base_url,
        timeout=timeout,
        max_retries=0,
        http_client=transport,
        open_telemetry=False,
    )


async def ask(
    client: AsyncAnthropic, request: MessageCreateParamsStreaming, *, started: float, seconds: float
) -> Completion:
    """Send one request and collect the streamed answer.

    Args:
        client: made by `connect`.
        request: with `stream` set.
        started: the monotonic time at which the call began.
        seconds: deadline, counted from `started`.

    Raises:
        ModelError: the answer is unusable, or there is none.
    """
    answer = _Answer(started)
    failure: ModelError | None = None
    try:
        async with asyncio.timeout(started + seconds - time.monotonic()):
            async with await client.messages.create(**request) as stream:
                async for event in stream:
                    answer.add(event)
    # Beyond those: the SDK does not check that an event has the shape of its type.
    except (*_FAILURES, AttributeError, TypeError, ValueError) as error:
        failure = failure_of(error)
    # Raised outside the handler, the error has no context, which would hold the SDK's frames with key and prompt.
    if failure:
        raise failure
    return answer.completion()


class _Answer:
    """The answer that is collected from the events of one stream."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._first_token: float | None = None
        self._text: list[str] = []
        self._reported = ReportedUsage()
        self._stop_reason: str | None = None

    def add(self, event: RawMessageStreamEvent) -> None:
        """Add an event. Unknown kinds are ignored."""
        if event.type == "message_start":
            self._reported.begin(event.message.usage)
        elif event.type == "message_delta":
            self._reported.add(event.usage)
            self._stop_reason = event.delta.stop_reason or self._stop_reason
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            if self._first_token is None:
                self._first_token = time.monotonic() - self._started
            self._text.append(event.delta.text)

    def completion(self) -> Completion:
        """Return the complete answer. Its usage is unknown if the provider's figures are missing or impossible.

        Raises:
            ModelError: the stream broke off (with unknown cost), or its text is unusable.
        """
        if self._stop_reason is None:
            raise ModelError(ErrorCode.PROVIDER_FAILED, usage=None)
        text, usage = "".join(self._text), self._reported.usage()
        if self._stop_reason in _UNUSABLE:
            raise ModelError(_UNUSABLE[self._stop_reason], usage=usage)
        if self._first_token is None or not text.strip():
            raise ModelError(ErrorCode.PROVIDER_FAILED, usage=usage)
        return Completion(text, usage, self._first_token)
