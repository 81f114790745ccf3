"""One order of what was found by words and by meaning.

    score = lexical / best lexical + .7 · (cosine - least) / (greatest - least) [+ .3 for a speaker who is named]

each within its own list; absent from a list is zero. To the best of them comes .3 · the wording that they share with
the question. It is a convex combination of normalised scores, after Bruch, Gai and Ingber, *An Analysis of Fusion
Functions for Hybrid Retrieval*, ACM TOIS 42(1), 2023: it keeps how far the best hits are ahead, which reciprocal rank
fusion throws away, and on conversations that is what tells them apart. BM25 starts at zero, so its own scale is kept;
cosines crowd together in a range that depends on the model, so theirs is stretched. docs/retrieval-quality.md has what
each part is worth.
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
from fencepost.retrieval.domain.ranking.terms import analysed, asked
from fencepost.retrieval.domain.search import Hit

LIST_LIMIT: Final = 100
"""Hits to ask each query for. With 30, a passage that one query has far down is lost to the other."""
MEANING_WEIGHT: Final = 0.7
SPEAKER_BONUS: Final = 0.3
"""For a message of somebody whom the question names."""
WORDING_WEIGHT: Final = 0.3
COMPARED: Final = 30
"""Of the first that are compared by their wording: it costs time, and lifts nothing from far below."""

type FusionKey = tuple[str, str]
"""A parent and its chunk."""


class Profile(StrEnum):
    """What is ranked."""

    DOCUMENTS = "documents"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class Lists:
    """What the queries found, each the best first."""

    lexical: Sequence[Hit] = ()
    nearest: Sequence[Hit] = ()


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of the score counts. The defaults were measured; others are for measuring."""

    meaning: float = MEANING_WEIGHT
    speaker: float = SPEAKER_BONUS
    wording: float = WORDING_WEIGHT


_MEASURED: Final = Weights()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit and its place among the others.

    Attributes:
        score: tells the order of this ranking alone; from 0 to the sum of the weights and 1.
        cosine: None where it is not among the nearest.
        nearness: how far the cosine is from the unrelated (0) to the same (1); what it usually is of an answer, where
            the query by meaning gave nothing.
    """

    hit: Hit
    score: float
    cosine: float | None = None
    nearness: float = 0.0


def rank(lists: Lists, profile: Profile, question: str, weights: Weights = _MEASURED) -> tuple[Ranked, ...]:
    """Return each chunk once, the best first; equal ones in the order of their parents and chunks.

    Of a chunk that was found in several entries or versions the newest counts, with the best score in each list.
    """
    lexical, nearest = (_greatest(hits, [hit.score for hit in hits]) for hits in (lists.lexical, lists.nearest))
    hits = _newest((*lists.lexical, *lists.nearest))
    words, meaning = _shares(lexical), _stretched(nearest)
    near = _greatest(lists.nearest, nearness(lists.nearest))
    named = _named(hits, question) if profile is Profile.MESSAGES else frozenset()

    def ranked(key: FusionKey) -> Ranked:
        score = words.get(key, 0.0) + weights.meaning * meaning.get(key, 0.0) + weights.speaker * (key in named)
        return Ranked(hits[key], score, nearest.get(key), near.get(key, 0.0 if near else USUAL))

    first = _sorted(map(ranked, hits))
    return _sorted((*_compared(first[:COMPARED], question, weights.wording), *first[COMPARED:]))


def key_of(hit: Hit) -> FusionKey:
    """Return what names a chunk."""
    return hit.parent, hit.chunk


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


def _shares(scores: Mapping[FusionKey, float]) -> dict[FusionKey, float]:
    """Return scores as shares of the best."""
    best = max(scores.values(), default=0.0)
    return {key: max(0.0, score) / best for key, score in scores.items()} if best > 0 else {}


def _stretched(scores: Mapping[FusionKey, float]) -> dict[FusionKey, float]:
    """Return scores as places between the least and the greatest. Where all are equal, each is the greatest."""
    least, greatest = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    width = greatest - least
    return {key: (score - least) / width if width > 0 else 1.0 for key, score in scores.items()}


def _named(hits: Mapping[FusionKey, Hit], question: str) -> frozenset[FusionKey]:
    """Return what was said by those whom the question names."""
    words = frozenset(analysed(question))
    speakers = {key: speaker_of(hit.text) for key, hit in hits.items()}
    named = {speaker for speaker in set(speakers.values()) if not words.isdisjoint(analysed(speaker))}
    return frozenset(key for key, speaker in speakers.items() if speaker in named)


def _compared(first: Sequence[Ranked], question: str, weight: float) -> list[Ranked]:
    """Return the first ones with what they earn by their wording."""
    shared = shared_wording(question, [f"{each.hit.context}\n{each.hit.text}" for each in first])
    return [replace(each, score=each.score + weight * share) for each, share in zip(first, shared, strict=True)]


def _sorted(ranked: Iterable[Ranked]) -> tuple[Ranked, ...]:
    return tuple(sorted(ranked, key=lambda each: (-each.score, key_of(each.hit))))


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
