"""How near a cosine is, whatever the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fencepost.retrieval.domain.search import Hit

LONG: Final = 50
"""Hits of a list whose last is unrelated to the question. In a shorter one all may be about it."""
UNRELATED: Final[Mapping[str, float]] = {"multilingual-e5-small": 0.80}
"""Cosine of unrelated texts, by the beginnings of models' names. E5 crowds its cosines between .7 and 1 by its training
(Wang et al., *Multilingual E5 Text Embeddings*, 2024); .80 is the hundredth best of our data sets."""
USUAL: Final = 0.2
"""Of what answers a question: the mean over our data sets is .18 on chats, .3 and more on documents."""
USUALLY_UNRELATED: Final = 0.2
"""For other models, which spread theirs more evenly."""


def nearness(hits: Sequence[Hit]) -> tuple[float, ...]:
    """Return, for each of the nearest hits, how far it is on the way from the unrelated (0) to the same (1)."""
    if not hits:
        return ()
    least = min(hit.score for hit in hits)
    base = least if len(hits) >= LONG else min(least, _unrelated(hits[0].model))
    width = 1 - base
    return tuple(min(1.0, (hit.score - base) / width) if width > 0 else 1.0 for hit in hits)


def _unrelated(model: str) -> float:
    return next((cosine for name, cosine in UNRELATED.items() if model.startswith(name)), USUALLY_UNRELATED)
