"""Token counts and the prompt cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from local.provider.models import MODELS
from local.provider.requests import MessagesRequest

CACHE_SECONDS = 300.0
LOOKBACK_BLOCKS = 20
"""Blocks before a marked one, itself included, among whose ends a stored prefix is looked for."""
_BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class InputUsage:
    """The tokens of a prompt in the provider's three classes; their sum is the whole prompt."""

    uncached: int
    written: int
    read: int

    def as_json(self) -> dict[str, object]:
        """Return the input part of a `usage` object."""
        return {
            "input_tokens": self.uncached,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
            "cache_creation": {"ephemeral_5m_input_tokens": self.written, "ephemeral_1h_input_tokens": 0},
        }


@dataclass(frozen=True, slots=True)
class _Prefix:
    """A prompt up to the end of one block."""

    digest: str
    tokens: int
    marked: bool


def count_tokens(text: str) -> int:
    """Approximate the tokens of a text: never more than its UTF-8 bytes, and about one for a Chinese character."""
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


def cut(text: str, tokens: int) -> str:
    """Return the longest beginning of a text that counts no more than so many tokens."""
    return text.encode()[: tokens * _BYTES_PER_TOKEN].decode(errors="ignore")


class PromptCache:
    """Prefixes seen within the last five minutes.

    A prefix is written where a block is marked and long enough for the model. A later prompt reads the longest stored
    prefix that it begins with and that ends close before one of its own marks, which renews it. A prefix is all text up
    to there, block by block, and where each block stands. Source: "Prompt caching" on platform.claude.com.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._expiry: dict[str, float] = {}

    def account(self, request: MessagesRequest) -> InputUsage:
        """Count the prompt of one request, and remember its marked prefixes."""
        prefixes = list(_prefixes(request))
        minimum = MODELS[request.model].minimum_cacheable
        marks = [n for n, prefix in enumerate(prefixes) if prefix.marked and prefix.tokens >= minimum]
        covered = prefixes[marks[-1]].tokens if marks else 0
        # A lookup finds prefixes that end at a mark or close before one.
        near = (prefix for n, prefix in enumerate(prefixes) if any(0 <= mark - n < LOOKBACK_BLOCKS for mark in marks))
        found = [prefix for prefix in near if self._expiry.get(prefix.digest, 0.0) > self._clock()]
        read = max((prefix.tokens for prefix in found), default=0)
        for prefix in (*found, *(prefixes[n] for n in marks)):
            self._expiry[prefix.digest] = self._clock() + CACHE_SECONDS
        return InputUsage(prefixes[-1].tokens - covered, covered - read, read)

    def clear(self) -> None:
        """Forget everything."""
        self._expiry.clear()


def _prefixes(request: MessagesRequest) -> Iterator[_Prefix]:
    digest = hashlib.sha256(request.model.encode())
    tokens = 0
    for place, block in request.placed_blocks():
        digest.update(hashlib.sha256(f"{place}\0{block.text}".encode()).digest())
        tokens += count_tokens(block.text)
        yield _Prefix(digest.hexdigest(), tokens, block.cache_control is not None)
