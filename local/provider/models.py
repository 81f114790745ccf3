"""The models that the stand-in knows, and their limits. Source: the models' pages on platform.claude.com."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """Limits and options of a model.

    Attributes:
        context_window: tokens of prompt and answer together.
        minimum_cacheable: tokens below which a marked prefix is not cached.
        thinking: accepted values of `thinking.type`.
    """

    context_window: int
    minimum_cacheable: int
    thinking: frozenset[str]


MODELS = {
    "claude-haiku-4-5": Traits(200_000, 4_096, frozenset({"disabled", "enabled"})),
    "claude-haiku-5-5": Traits(1_000_000, 512, frozenset({"disabled", "adaptive"})),
    "claude-opus-5": Traits(1_000_000, 512, frozenset({"disabled", "adaptive"})),
    "claude-opus-5-5": Traits(1_000_000, 512, frozenset({"adaptive"})),
    "claude-sonnet-4-6": Traits(1_000_000, 1_024, frozenset({"disabled", "adaptive", "enabled"})),
    "claude-sonnet-5-5": Traits(1_000_000, 512, frozenset({"between_tools", "adaptive"})),
}
