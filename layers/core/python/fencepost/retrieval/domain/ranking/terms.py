"""The terms by which texts are found: those that an index holds of a text, and those that a query looks up."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from snowballstemmer import stemmer

# Scripts written without spaces between words, and Korean, whose particles cling to them.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
)
_RUN = re.compile(f"([{_SPACELESS}]+)|([^\\W_{_SPACELESS}]+)")


def terms(text: str) -> Iterator[str]:
    """Yield casefolded words, and character bigrams of scripts without spaces. Terms hold letters and digits only."""
    for spaceless, word in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
        if len(spaceless) > 1:
            yield from map("".join, pairwise(spaceless))
        else:
            yield spaceless or word


STOP_WORDS: Final = frozenset(
    """
    a about all also am an and any are aren as at be been being but by can could d did didn do does doesn don for
    from had hadn has hasn have haven he her his how i if in into is isn it its just ll m me my no not of on or
    our re s she should so t than that the their them then there these they this to too us ve very was wasn we
    were weren what when where which who whom whose why will with won would you your
    """.split()  # noqa: SIM905 - a list would take a line for each word
)
"""English words, and parts of contractions, that do not distinguish texts."""
_HIRAGANA: Final = re.compile("[\u3040-\u309f]+")
"""Hiragana only: Japanese particles and endings, which do not distinguish texts either."""


def index_terms(text: str) -> Iterator[str]:
    """Yield the terms of a text as an index holds them: stemmed English words, and character bigrams.

    Stop words are included, so that a query of nothing but stop words finds texts as well.
    """
    return map(stem, terms(text))


def query_terms(question: str) -> tuple[str, ...]:
    """Return the distinct terms to look up for a question, in order.

    Stop words are left out, unless the question has no other terms.
    """
    words = list(dict.fromkeys(terms(question)))
    distinctive = [word for word in words if word not in STOP_WORDS and not _HIRAGANA.fullmatch(word)]
    return tuple(dict.fromkeys(map(stem, distinctive or words)))


# English stems by Porter's algorithm, as SQLite's FTS5 and Lucene compute them. `snowballstemmer` implements the paper
# (M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980), but differs in two rules from the stems that
# stored indexes hold. `_as_in_reference` rewrites the words concerned, so that stored and query terms stay equal:
# - `-logi` and `-bli` become `-log` and `-ble`, as in Porter's reference implementation (technology: technolog).
# - Each doubled consonant but l, s and z loses one letter after `-ed` and `-ing` (trekking: trek), as the paper says;
#   snowball leaves c, h, j, k, q, v, w, x and y doubled.
SHORTEST: Final = 3
"""Letters of the shortest word that is stemmed."""
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
    """Return the word whose snowball stem is the reference's stem of `word`; most words are returned unchanged."""
    doubled = _DOUBLED.search(word)
    if doubled and _VOWEL.search(word, 0, doubled.end(1)):
        word = word[: doubled.end(1) - 1]
    departure = _DEPARTURE.search(word)
    if departure and _VOWEL_AND_CONSONANT.search(word, 0, departure.start()):
        word = word[: departure.start()] + _REPLACEMENTS[departure[1]]
    return word
