"""What the tests of the model's adapter share: a prompt, keys that rotate, and calls."""

from __future__ import annotations

import pytest

from fencepost.model.anthropic.claude import Claude
from fencepost.model.domain import ModelError, Prompt, PromptBlock, PromptTurn, Role
from tests.fakes.answers import FakeKeys

FENCE = '<untrusted-context nonce="0123456789abcdef" source="doc:guide/install#1">{}</untrusted-context>'
PROMPT = Prompt(
    system=(
        PromptBlock("Answer from the documents."),
        PromptBlock(FENCE.format("Install the agent with apt.\n" * 100), cached=True),
    ),
    turns=(
        PromptTurn(Role.USER, (PromptBlock("Hello"),)),
        PromptTurn(Role.ASSISTANT, (PromptBlock("How can I help?"),)),
        PromptTurn(
            Role.USER, (PromptBlock("Earlier context", cached=True), PromptBlock("How do I install the agent?"))
        ),
    ),
    sources=(),
    input_tokens=4_000,
    max_output_tokens=500,
)


class KeyRing(FakeKeys):
    """Keys whose provider key can be rotated."""

    def __init__(self, key: str = "key-one") -> None:
        super().__init__()
        self.key = key
        self.asked = 0

    def provider_key(self) -> str:
        self.asked += 1
        return self.key


def model_at(
    url: str,
    *,
    keys: KeyRing | None = None,
    model: str = "claude-haiku-5-5",
    connect_seconds: float = 5.0,
    seconds: float = 20.0,
) -> Claude:
    """Return the adapter, pointed at a stand-in."""
    return Claude(keys or KeyRing(), model=model, base_url=url, connect_seconds=connect_seconds, total_seconds=seconds)


def failure(model: Claude) -> ModelError:
    """Return the error that the one call ends with."""
    with pytest.raises(ModelError) as raised:
        model.complete(PROMPT)
    return raised.value
