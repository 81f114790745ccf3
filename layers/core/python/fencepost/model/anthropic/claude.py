"""The language model: Anthropic's Messages API, through its official SDK."""

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
    """`fencepost.model.ports.Model` over the streaming Messages API.

    Nothing of a call is taken from the process environment: neither key, endpoint, proxy nor profile.

    Args:
        keys: asked for the provider's key at each call, so that a rotated one is followed.
        model: a name of the price table.
        base_url: another endpoint that speaks the Messages API; empty for Anthropic's own.
        connect_seconds: allowed for reaching the provider.
        total_seconds: allowed for a whole call of `complete`, the import of the SDK included.
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
        """Ask the model with exactly one HTTP request.

        Raises:
            ModelError: see `fencepost.model.ports.Model` and `fencepost.model.anthropic.errors`.
        """
        started = time.monotonic()
        client = self._client(self._keys.provider_key())
        # The SDK takes seconds to import; paths that never call the model must not pay for it.
        from fencepost.model.anthropic.sdk import ask

        seconds = min(self._total_seconds, within)
        try:
            return self._loop.run(ask(client, self._request(prompt), started=started, seconds=seconds))
        except ModelError as error:
            if error.code is ErrorCode.PROVIDER_REJECTED:
                self._doubt_key()
            raise

    def _doubt_key(self) -> None:
        """Let the next call use a rotated key at once, should that be why the provider refused this one."""
        with suppress(FencepostError):
            self._keys.refresh_provider_key()

    def preload(self) -> None:
        """Import the SDK ahead of the first call: for a snapshot, and for benchmarks."""
        import_module("fencepost.model.anthropic.sdk")

    def _client(self, key: str) -> AsyncAnthropic:
        """Return the client of this key, made once; those of earlier keys are dropped."""
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
    """Runs coroutines on one event loop in a daemon thread; safe to use from any thread.

    It gives synchronous callers asyncio's deadlines, which also end what a socket's own timeouts cannot:
    a name that does not resolve, a peer that sends a byte now and then.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run[Result](self, coroutine: Coroutine[object, object, Result]) -> Result:
        """Run the coroutine to its end and return its result, or raise what it raises."""
        import asyncio

        return asyncio.run_coroutine_threadsafe(coroutine, self._started()).result()

    def _started(self) -> asyncio.AbstractEventLoop:
        import asyncio

        # Not before the first use: a thread must not be part of a snapshot of the process.
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="event-loop", daemon=True).start()
            return self._loop
