"""The terms by which texts are found: what the index holds of a text, and what a question looks for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from snowballstemmer import stemmer

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


SHORTEST: Final = 3
"""Letters of the shortest word that has an ending."""
_CACHED_WORDS: Final = 50_000

_WORD: Final = re.compile("[a-z]+")
_VOWEL: Final = re.compile("[aeiou]|[^aeiou]y")
_VOWEL_AND_CONSONANT: Final = re.compile("[aeiou][^aeiou]|[^aeiou]y[^aeiou]")
"""A positive measure (m > 0 in the paper). A `y` after a consonant is a vowel."""
_DOUBLED: Final = re.compile(r"(([chjkqvwx])\2|(?:(?:\A|[aeiou])y|[^aeiouy])(?:yy)+)(?:ed|ing)s?\Z")
_DEPARTURE: Final = re.compile(r"(bl|log)(?:[iy](?:ed|ing)?s?|ies)\Z")
_REPLACEMENTS: Final = {"bl": "ble", "log": "log"}


@lru_cache(maxsize=_CACHED_WORDS)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; words with other characters than ASCII letters are returned unchanged."""
    if len(word) < SHORTEST or not _WORD.fullmatch(word):
        return word
    # A stemmer holds the word that it works on, so threads must not share one.
    stemmed: str = stemmer("porter").stemWord(_as_in_reference(word))
    return stemmed


def _as_in_reference(word: str) -> str:
    """Apply the two rules that snowball lacks; return other words unchanged."""
    doubled = _DOUBLED.search(word)
    if doubled and _VOWEL.search(word, 0, doubled.end(1)):
        word = word[: doubled.end(1) - 1]
    departure = _DEPARTURE.search(word)
    if departure and _VOWEL_AND_CONSONANT.search(word, 0, departure.start()):
        word = word[: departure.start()] + _REPLACEMENTS[departure[1]]
    return word


# Scripts written without spaces between words, and Korean, whose particles cling to them.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
)
_RUN = re.compile(f"([{_SPACELESS}]+)|([^\\W_{_SPACELESS}]+)")


def terms(text: str) -> Iterator[str]:
    """Yield words, casefolded, and character bigrams of scripts without spaces. Terms hold letters and digits alone."""
    for spaceless, word in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
        if len(spaceless) > 1:
            yield from map("".join, pairwise(spaceless))
        else:
            yield spaceless or word
