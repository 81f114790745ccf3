"""The terms by which texts are found: what the index holds of a text, and what a question looks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fencepost.retrieval.domain.ranking.porter import stem
from fencepost.retrieval.domain.terms import terms

STOP_WORDS: Final = frozenset(
    [
        "a",
        "about",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "aren",
        "as",
        "at",
        "be",
        "been",
        "being",
        "but",
        "by",
        "can",
        "could",
        "d",
        "did",
        "didn",
        "do",
        "does",
        "doesn",
        "don",
        "for",
        "from",
        "had",
        "hadn",
        "has",
        "hasn",
        "have",
        "haven",
        "he",
        "her",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "isn",
        "it",
        "its",
        "just",
        "ll",
        "m",
        "me",
        "my",
        "no",
        "not",
        "of",
        "on",
        "or",
        "our",
        "re",
        "s",
        "she",
        "should",
        "so",
        "t",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "too",
        "us",
        "ve",
        "very",
        "was",
        "wasn",
        "we",
        "were",
        "weren",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "won",
        "would",
        "you",
        "your",
    ]
)
"""English words, and what is left of their short forms, that tell nothing of what is asked."""

_ENDINGS: Final = re.compile("[\u3040-\u309f]+")
"""Hiragana alone: particles and endings of Japanese, which say as little."""


def analysed(text: str) -> Iterator[str]:
    """Yield the terms of a text as an index holds them: words without their English endings, and character bigrams.

    Stop words are among them, so that a question of nothing else finds something as well.
    """
    return map(stem, terms(text))


def asked(question: str) -> tuple[str, ...]:
    """Return the different terms that a question looks for, in order.

    Those that tell nothing are left out, unless there are no others.
    """
    words = list(dict.fromkeys(terms(question)))
    telling = [word for word in words if word not in STOP_WORDS and not _ENDINGS.fullmatch(word)]
    return tuple(dict.fromkeys(map(stem, telling or words)))
