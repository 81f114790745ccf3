"""A stored conversation's prompt as tests assemble it, and what they look at in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import Message
from fencepost.documents.domain.sections import DocumentSet
from fencepost.identity.domain.sites import Fact, LayerBudgets, Site
from fencepost.memory.domain.summaries import Summary
from fencepost.model.domain import Prompt
from fencepost.prompting.domain.fence import Section
from fencepost.retrieval.domain.search import NOTHING_RECALLED, Recalled
from fencepost.turns.domain.assembly import Nonces, assemble
from fencepost.turns.domain.prompt_inputs import PromptInputs, turn_inputs
from tests.worlds.budgets import Budgets
from tests.worlds.prompts import GUIDE, SITE, material, request

NONCES = Nonces(documents="d" * 32, facts="a" * 32, summary="b" * 32, fresh="f" * 32)
BUDGETS = Budgets(documents_tokens=20_000, history_tokens=16_000, max_output_tokens=1_024, summary_tokens=8_000)
ORDER = ("rules", "facts", "summary", "history", "context", "message")


def in_order(_: str, documents: DocumentSet) -> Sequence[Section]:
    return documents.sections


def turn(
    recent: Sequence[Message] = (),
    *,
    documents: DocumentSet = GUIDE,
    site: Site = SITE,
    files: Sequence[AttachedText] = (),
    facts: Sequence[Fact] = (),
    summed: Summary | None = None,
    seq: int | None = None,
    kept_from: int = 1,
    recalled: Recalled = NOTHING_RECALLED,
) -> PromptInputs:
    """Return the layers of a turn whose question follows the messages."""
    loaded = material(recent, facts=facts, summed=summed, seq=seq, kept_from=kept_from)
    return turn_inputs(request(), loaded, documents, site, files, recalled=recalled)


def shown(layers: PromptInputs, budgets: LayerBudgets = BUDGETS) -> Prompt:
    return assemble(layers, in_order, budgets, NONCES)


def texts(prompt: Prompt) -> list[str]:
    return [block.text for block in (*prompt.system, *(block for turn in prompt.turns for block in turn.blocks))]


def tokens(prompt: Prompt) -> dict[str, int]:
    return {use.layer: use.tokens for use in prompt.layers}


def named(prompt: Prompt, layer: str) -> tuple[str, ...]:
    return next(use.sources for use in prompt.layers if use.layer == layer)


def fences(text: str) -> list[str]:
    return re.findall(r'<untrusted-context nonce="\w+" source="([^"]*)"', text)


def breakpoints(prompt: Prompt) -> list[str]:
    blocks = (*prompt.system, *(block for turn in prompt.turns for block in turn.blocks))
    return [block.text for block in blocks if block.cached]
