"""The stand-in's prompt cache: which prefixes are written, read and forgotten, and how tokens are counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import anthropic
import httpx
import pytest
from anthropic.types import MessageParam, TextBlockParam
from hypothesis import given
from hypothesis import strategies as st

from local.provider import create_app
from local.provider.models import MODELS
from local.provider.usage import CACHE_SECONDS, LOOKBACK_BLOCKS, count_tokens, truncate
from tests.doubles.servers import serve
from tests.doubles.stand_in import sdk_client

HAIKU = "claude-haiku-5-5"
LONG = "All about the agent and its settings. " * 100


@dataclass
class Clock:
    """Seconds that pass when told to."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def server(clock: Clock) -> Iterator[str]:
    with serve(create_app(clock=clock)) as url:
        yield url


@pytest.fixture
def client(server: str) -> anthropic.Anthropic:
    httpx.delete(f"{server}/control", trust_env=False).raise_for_status()
    return sdk_client(server)


class TestCache:
    def usage(self, client: anthropic.Anthropic, *texts: str, model: str = HAIKU) -> tuple[int, int, int]:
        """Ask with the texts as system blocks, all marked; return uncached, written and read tokens."""
        system: list[TextBlockParam] = [
            {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}} for text in texts
        ]
        message = client.messages.create(
            model=model, max_tokens=100, system=system, messages=[{"role": "user", "content": "Hi!"}]
        )
        used = message.usage
        return used.input_tokens, used.cache_creation_input_tokens or 0, used.cache_read_input_tokens or 0

    def test_a_prefix_is_written_once_and_then_read(self, client: anthropic.Anthropic) -> None:
        size = count_tokens(LONG)

        assert self.usage(client, LONG) == (1, size, 0)
        assert self.usage(client, LONG) == (1, 0, size)

    def test_a_longer_prefix_reads_the_known_part(self, client: anthropic.Anthropic) -> None:
        self.usage(client, LONG)

        assert self.usage(client, LONG, "And more.") == (1, count_tokens("And more."), count_tokens(LONG))

    def test_a_changed_prefix_is_written_anew(self, client: anthropic.Anthropic) -> None:
        self.usage(client, LONG)

        assert self.usage(client, f"!{LONG}")[2] == 0

    def test_reading_renews_and_five_minutes_forget(self, client: anthropic.Anthropic, clock: Clock) -> None:
        self.usage(client, LONG)
        clock.now += CACHE_SECONDS - 1
        assert self.usage(client, LONG)[2] > 0
        clock.now += CACHE_SECONDS - 1
        assert self.usage(client, LONG)[2] > 0
        clock.now += CACHE_SECONDS
        assert self.usage(client, LONG)[2] == 0

    def test_reading_renews_a_prefix_that_is_not_marked_any_more(
        self, client: anthropic.Anthropic, clock: Clock
    ) -> None:
        self.turns(client, 3, 1)
        clock.now += CACHE_SECONDS - 1
        assert self.turns(client, 5, 3) > 0
        clock.now += CACHE_SECONDS - 1
        assert self.turns(client, 3, 1) > 0

    def turns(self, client: anthropic.Anthropic, count: int, *marked: int) -> int:
        """Ask after so many blocks in turns, of which those numbered are marked; return what was read."""
        blocks: list[TextBlockParam] = [{"type": "text", "text": f"{number}. {LONG}"} for number in range(count)]
        for number in marked:
            blocks[number]["cache_control"] = {"type": "ephemeral"}
        messages: list[MessageParam] = []
        for number, block in enumerate(blocks):
            question: MessageParam = {"role": "user", "content": [block]}
            messages.append({"role": "assistant", "content": [block]} if number % 2 else question)
        used = client.messages.create(model=HAIKU, max_tokens=100, messages=messages).usage
        return used.cache_read_input_tokens or 0

    def test_a_conversation_reads_what_it_wrote_a_turn_before(self, client: anthropic.Anthropic) -> None:
        assert self.turns(client, 3, 1) == 0
        assert self.turns(client, 5, 3) == 2 * count_tokens(f"0. {LONG}")
        assert self.turns(client, 7, 5) == 4 * count_tokens(f"0. {LONG}")

    def test_a_prefix_is_looked_for_near_a_mark_only(self, client: anthropic.Anthropic) -> None:
        self.turns(client, 3, 1)
        near = 1 + LOOKBACK_BLOCKS
        assert self.turns(client, near + 2, near) == 0
        self.turns(client, 3, 1)
        assert self.turns(client, near + 2, 1, near) > 0

    def test_the_same_text_in_another_place_is_another_prefix(self, client: anthropic.Anthropic) -> None:
        self.usage(client, LONG)
        marked: list[TextBlockParam] = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]
        message = client.messages.create(model=HAIKU, max_tokens=9, messages=[{"role": "user", "content": marked}])
        assert not message.usage.cache_read_input_tokens

    def test_too_small_a_prefix_is_not_cached(self, client: anthropic.Anthropic) -> None:
        assert count_tokens(LONG) < MODELS["claude-haiku-4-5"].minimum_cacheable
        for _ in range(2):
            assert self.usage(client, LONG, model="claude-haiku-4-5") == (1 + count_tokens(LONG), 0, 0)

    @given(st.text(min_size=1), st.integers(1, 50))
    def test_tokens_never_exceed_bytes_and_a_cut_keeps_its_bound(self, text: str, tokens: int) -> None:
        assert 0 < count_tokens(text) <= len(text.encode())
        assert count_tokens(truncate(text, tokens)) <= tokens
        assert text.startswith(truncate(text, tokens))
