"""Budgets of a prompt in a context window of any size."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.identity.domain.sites import CONTEXT_TOKENS, LayerBudgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets(LayerBudgets):
    """A site's budgets, in a context window that a test may make smaller than the model's."""

    context_tokens: int = CONTEXT_TOKENS
