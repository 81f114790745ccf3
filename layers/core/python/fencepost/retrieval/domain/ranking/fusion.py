"""Fusion of the lexical and the vector ranking, and reranking by shared wording.

    score = lexical / best lexical + .7 · (cosine - least) / (greatest - least) [+ .3 for a speaker who is named]

Both parts are normalised within their own list; a hit that is absent from a list gets zero. The best hits then gain
.3 · their share of the question's wording. This is a convex combination of normalised scores, after Bruch, Gai and
Ingber, *An Analysis of Fusion Functions for Hybrid Retrieval*, ACM TOIS 42(1), 2023. Unlike reciprocal rank fusion it
keeps the distances between scores, which distinguish the hits in conversations. BM25 starts at zero, so its scale is
kept; cosines lie in a narrow range that depends on the model, so they are stretched. docs/retrieval-quality.md lists
the measured effect of each part.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final

from fencepost.retrieval.domain.ranking.fields import speaker_of
from fencepost.retrieval.domain.ranking.terms import index_terms, query_terms
from fencepost.retrieval.domain.search import Hit

LIST_LIMIT: Final = 100
"""Hits to request from each query. With 30, a passage that ranks low in one query is lost to the other."""
MEANING_WEIGHT: Final = 0.7
SPEAKER_BONUS: Final = 0.3
"""For a message whose speaker the question names."""
WORDING_WEIGHT: Final = 0.3
RERANKED: Final = 30
"""First hits that are reranked by wording; it takes time, and does not lift hits from far below."""

LONG: Final = 50
"""Hits in a list whose last hit is unrelated to the question. In a shorter list all may be related."""
UNRELATED: Final[Mapping[str, float]] = {"multilingual-e5-small": 0.80}
"""Cosine of unrelated texts, by the beginning of the model's name. E5's training crowds its cosines between .7 and 1
(Wang et al., *Multilingual E5 Text Embeddings*, 2024); .80 is the hundredth best of our data sets."""
USUALLY_UNRELATED: Final = 0.2
"""The same for other models, which spread their cosines more evenly."""
USUAL: Final = 0.2
"""Nearness of passages that answer: the mean over our data sets is .18 on chats, .3 and more on documents."""

type FusionKey = tuple[str, str]
"""A parent and its chunk."""


class Profile(StrEnum):
    """The kind of content that is ranked."""

    DOCUMENTS = "documents"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class Lists:
    """The hits of both queries, each the best first."""

    lexical: Sequence[Hit] = ()
    nearest: Sequence[Hit] = ()


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the parts of a score. The defaults were measured; others are for benchmarks."""

    meaning: float = MEANING_WEIGHT
    speaker: float = SPEAKER_BONUS
    wording: float = WORDING_WEIGHT


_MEASURED: Final = Weights()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit with its fused score.

    Attributes:
        score: comparable within one ranking only; from 0 to the sum of the weights and 1.
        cosine: None if the hit is not in the vector list.
        nearness: position of the cosine between unrelated (0) and identical (1) texts; `USUAL` where the vector query
            returned nothing.
    """

    hit: Hit
    score: float
    cosine: float | None = None
    nearness: float = 0.0


def fuse(lists: Lists, profile: Profile, question: str, weights: Weights = _MEASURED) -> tuple[Ranked, ...]:
    """Return each chunk once, the best first; equal scores are ordered by parent and chunk.

    A chunk that was found in several entries or versions is represented by the newest, with its best score in each
    list.
    """
    lexical, nearest = (_greatest(hits, [hit.score for hit in hits]) for hits in (lists.lexical, lists.nearest))
    hits = _newest((*lists.lexical, *lists.nearest))
    best = max(lexical.values(), default=0.0)
    words = {key: max(0.0, score) / best for key, score in lexical.items()} if best > 0 else {}
    meaning = _stretched(nearest)
    near = _greatest(lists.nearest, nearness(lists.nearest))
    named = _named(hits, question) if profile is Profile.MESSAGES else frozenset()

    def ranked(key: FusionKey) -> Ranked:
        score = words.get(key, 0.0) + weights.meaning * meaning.get(key, 0.0) + weights.speaker * (key in named)
        return Ranked(hits[key], score, nearest.get(key), near.get(key, 0.0 if near else USUAL))

    ordered = _sorted(map(ranked, hits))
    first, rest = ordered[:RERANKED], ordered[RERANKED:]
    shared = shared_wording(question, [f"{each.hit.context}\n{each.hit.text}" for each in first])
    reranked = (
        replace(each, score=each.score + weights.wording * share) for each, share in zip(first, shared, strict=True)
    )
    return _sorted((*reranked, *rest))


def key_of(hit: Hit) -> FusionKey:
    """Return the parent and the chunk of a hit."""
    return hit.parent, hit.chunk


def nearness(hits: Sequence[Hit]) -> tuple[float, ...]:
    """Return the position of each hit's cosine between unrelated (0) and identical (1) texts, whatever the model.

    Args:
        hits: a vector list. If it is `LONG`, its least cosine counts as unrelated; else the model's usual one.
    """
    if not hits:
        return ()
    base = min(hit.score for hit in hits)
    if len(hits) < LONG:
        model = hits[0].model
        usual = next((cosine for name, cosine in UNRELATED.items() if model.startswith(name)), USUALLY_UNRELATED)
        base = min(base, usual)
    width = 1 - base
    return tuple(min(1.0, (hit.score - base) / width) if width > 0 else 1.0 for hit in hits)


type Pair = tuple[str, str]


def shared_wording(question: str, texts: Sequence[str]) -> tuple[float, ...]:
    """Return, for each text, its weighted share of the question's pairs of neighbouring terms: from 0 to 1.

    Only pairs that occur in one of the texts count. This is the ordered-window feature of Metzler and Croft's *A Markov
    Random Field Model for Term Dependencies*, SIGIR 2005. In scripts without spaces, where terms are character bigrams,
    a pair is three characters in a row. Rare pairs weigh more: log(1 + (n - m + ½) / (m + ½)) for a pair in m of n
    texts, as in BM25.
    """
    distinctive = frozenset(query_terms(question))
    wanted = {pair for pair in pairwise(index_terms(question)) if not distinctive.isdisjoint(pair)}
    found = [wanted.intersection(pairwise(index_terms(text))) if wanted else set[Pair]() for text in texts]
    frequency = Counter(pair for pairs in found for pair in pairs)
    worth = {pair: math.log1p((len(texts) - m + 0.5) / (m + 0.5)) for pair, m in frequency.items()}
    whole = math.fsum(worth.values())
    return tuple(math.fsum(map(worth.__getitem__, pairs)) / whole if whole else 0.0 for pairs in found)


def _greatest(hits: Sequence[Hit], values: Sequence[float]) -> dict[FusionKey, float]:
    """Return the greatest value of each chunk."""
    greatest: dict[FusionKey, float] = {}
    for hit, value in zip(hits, values, strict=True):
        greatest[key_of(hit)] = max(value, greatest.get(key_of(hit), value))
    return greatest


def _newest(hits: Sequence[Hit]) -> dict[FusionKey, Hit]:
    newest: dict[FusionKey, Hit] = {}
    for hit in hits:
        known = newest.setdefault(key_of(hit), hit)
        if known.version < hit.version:
            newest[key_of(hit)] = hit
    return newest


def _stretched(scores: Mapping[FusionKey, float]) -> dict[FusionKey, float]:
    """Return scores scaled from the least (0) to the greatest (1); all 1 where they are equal."""
    least, greatest = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    width = greatest - least
    return {key: (score - least) / width if width > 0 else 1.0 for key, score in scores.items()}


def _named(hits: Mapping[FusionKey, Hit], question: str) -> frozenset[FusionKey]:
    """Return the messages whose speakers the question names."""
    words = frozenset(index_terms(question))
    speakers = {key: speaker_of(hit.text) for key, hit in hits.items()}
    named = {speaker for speaker in set(speakers.values()) if not words.isdisjoint(index_terms(speaker))}
    return frozenset(key for key, speaker in speakers.items() if speaker in named)


def _sorted(ranked: Iterable[Ranked]) -> tuple[Ranked, ...]:
    return tuple(sorted(ranked, key=lambda each: (-each.score, key_of(each.hit))))
