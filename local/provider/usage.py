"""Token counts and the prompt cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from local.provider.models import MODELS
from local.provider.requests import MessagesRequest

CACHE_SECONDS = 300.0
LOOKBACK_BLOCKS = 20
"""Blocks up to and including a marked one, at whose ends a stored prefix is looked up."""
_BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class InputUsage:
    """Tokens of a prompt in the provider's three classes, which add up to the whole prompt."""

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
    """Return the approximate tokens of a text: at most its UTF-8 bytes, about one per Chinese character."""
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


def truncate(text: str, tokens: int) -> str:
    """Return the longest prefix of a text within a number of tokens."""
    return text.encode()[: tokens * _BYTES_PER_TOKEN].decode(errors="ignore")


class PromptCache:
    """Prompt prefixes of the last five minutes.

    A prefix is stored if its last block is marked and it is long enough for the model. A later prompt reads and renews
    the longest stored prefix that it starts with and that ends shortly before one of its marks. A prefix consists of
    all text up to its end, block by block, and the place of each block.

    Source: "Prompt caching" on platform.claude.com.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._expiry: dict[str, float] = {}

    def account(self, request: MessagesRequest) -> InputUsage:
        """Count the prompt of one request and store its marked prefixes."""
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
        """Delete all prefixes."""
        self._expiry.clear()


def _prefixes(request: MessagesRequest) -> Iterator[_Prefix]:
    digest = hashlib.sha256(request.model.encode())
    tokens = 0
    for place, block in request.placed_blocks():
        digest.update(hashlib.sha256(f"{place}\0{block.text}".encode()).digest())
        tokens += count_tokens(block.text)
        yield _Prefix(digest.hexdigest(), tokens, block.cache_control is not None)
