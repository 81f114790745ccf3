"""The `Model` port on Anthropic's Messages API, through the official SDK."""

from __future__ import annotations

import threading
import time
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Keys
from fencepost.model.domain import ModelError, Prompt, PromptBlock, PromptTurn, Role
from fencepost.model.ports import Completion

if TYPE_CHECKING:
    import asyncio

    from anthropic import AsyncAnthropic
    from anthropic.types import MessageParam, TextBlockParam, ThinkingConfigParam
    from anthropic.types.message_create_params import MessageCreateParamsStreaming


ENDPOINT = "https://api.anthropic.com"

# These models think before they answer unless told not to, and their thoughts would eat up `max_output_tokens`.
# Source: the models' pages and "Thinking" on platform.claude.com, read in October 2026.
_LEAST_THINKING: dict[str, ThinkingConfigParam] = {
    "claude-haiku-5-5": {"type": "disabled"},
    "claude-opus-5": {"type": "disabled"},
    "claude-sonnet-5-5": {"type": "between_tools"},
}
_ALWAYS_THINKING = frozenset({"claude-opus-5-5"})


class Claude:
    """The model behind the streaming Messages API.

    A call takes nothing from the process environment: neither key, endpoint, proxy nor profile.

    Args:
        keys: provides the provider's key for each call, so that a rotated key is used.
        model: name of the model in the price table.
        base_url: another endpoint of the Messages API; empty for Anthropic's.
        connect_seconds: time limit for connecting.
        total_seconds: time limit for a call of `complete`, including the import of the SDK.
    """

    def __init__(
        self, keys: Keys, *, model: str, base_url: str = "", connect_seconds: float, total_seconds: float
    ) -> None:
        self._keys = keys
        self._model = model
        self._base_url = base_url or ENDPOINT
        self._connect_seconds = connect_seconds
        self._total_seconds = total_seconds
        self._loop = BackgroundLoop()
        self._lock = threading.Lock()
        self._clients: dict[str, AsyncAnthropic] = {}

    def complete(self, prompt: Prompt, *, within: float = inf) -> Completion:
        """Return the model's answer, with exactly one HTTP request.

        Raises:
            ModelError: see `fencepost.model.ports.Model` and `fencepost.model.anthropic.errors`.
        """
        started = time.monotonic()
        client = self._client(self._keys.provider_key())
        # The SDK takes seconds to import, which code paths without a call must not spend.
        from fencepost.model.anthropic.sdk import ask

        seconds = min(self._total_seconds, within)
        try:
            return self._loop.run(ask(client, self._request(prompt), started=started, seconds=seconds))
        except ModelError as error:
            if error.code is ErrorCode.PROVIDER_REJECTED:
                # The key may have been rotated: the next call reads it again.
                with suppress(FencepostError):
                    self._keys.refresh_provider_key()
            raise

    def preload(self) -> None:
        """Import the SDK before the first call, for snapshots and benchmarks."""
        import_module("fencepost.model.anthropic.sdk")

    def _client(self, key: str) -> AsyncAnthropic:
        """Return the client for a key. It is made once, and clients of earlier keys are dropped."""
        from fencepost.model.anthropic.sdk import connect

        with self._lock:
            if key not in self._clients:
                client = connect(key, self._base_url, self._connect_seconds, self._total_seconds)
                self._clients = {key: client}
            return self._clients[key]

    def _request(self, prompt: Prompt) -> MessageCreateParamsStreaming:
        # No temperature: current models refuse sampling parameters.
        request: MessageCreateParamsStreaming = {
            "model": self._model,
            "max_tokens": prompt.max_output_tokens,
            "system": _blocks(prompt.system),
            "messages": [_message(turn) for turn in prompt.turns],
            "stream": True,
        }
        if self._model in _LEAST_THINKING:
            request["thinking"] = _LEAST_THINKING[self._model]
        if self._model in _ALWAYS_THINKING:
            request["output_config"] = {"effort": "low"}
        return request


def _message(turn: PromptTurn) -> MessageParam:
    if turn.role is Role.USER:
        return {"role": "user", "content": _blocks(turn.blocks)}
    return {"role": "assistant", "content": _blocks(turn.blocks)}


def _blocks(blocks: Iterable[PromptBlock]) -> list[TextBlockParam]:
    return [_block(block) for block in blocks]


def _block(block: PromptBlock) -> TextBlockParam:
    if block.cached:
        return {"type": "text", "text": block.text, "cache_control": {"type": "ephemeral"}}
    return {"type": "text", "text": block.text}


class BackgroundLoop:
    """Runs coroutines on an event loop in a daemon thread. Safe to share between threads.

    It gives synchronous callers asyncio's deadlines, which also cover waits that socket timeouts do not: slow name
    resolution, and a peer that sends a byte now and then.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run[Result](self, coroutine: Coroutine[object, object, Result]) -> Result:
        """Run a coroutine to its end, and return its result or raise its exception."""
        import asyncio

        return asyncio.run_coroutine_threadsafe(coroutine, self._started()).result()

    def _started(self) -> asyncio.AbstractEventLoop:
        import asyncio

        # Started at the first use, because a snapshot of the process must not hold a thread.
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="event-loop", daemon=True).start()
            return self._loop
