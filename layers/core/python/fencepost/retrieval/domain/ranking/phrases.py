"""How much of a question's wording a text repeats: pairs of neighbouring terms that stand side by side in both.

The ordered-window feature of Metzler and Croft's *A Markov Random Field Model for Term Dependencies*, SIGIR 2005. In a
script without spaces, where terms are character bigrams, a pair is three characters in a row. The rarer a pair is among
the texts that are compared, the more it says: log(1 + (n - m + ½) / (m + ½)) for a pair in m of n texts, as in BM25.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from fencepost.retrieval.domain.ranking.analysis import analysed, asked

type Pair = tuple[str, str]


def shared_wording(question: str, texts: Sequence[str]) -> tuple[float, ...]:
    """Return, for each text, its share of the pairs of the question that any of the texts has: from 0 to 1."""
    telling = frozenset(asked(question))
    wanted = {pair for pair in pairwise(analysed(question)) if not telling.isdisjoint(pair)}
    found = [wanted.intersection(pairwise(analysed(text))) if wanted else set() for text in texts]
    worth = _worth(found)
    whole = math.fsum(worth.values())
    return tuple(math.fsum(map(worth.__getitem__, pairs)) / whole if whole else 0.0 for pairs in found)


def _worth(found: Sequence[set[Pair]]) -> dict[Pair, float]:
    count = len(found)
    frequency = Counter(pair for pairs in found for pair in pairs)
    return {pair: math.log1p((count - n + 0.5) / (n + 0.5)) for pair, n in frequency.items()}
