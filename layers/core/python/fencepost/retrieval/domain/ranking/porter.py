"""English stems by Porter's algorithm, as SQLite's FTS5 and Lucene compute them.

`snowballstemmer` implements the paper: M. F. Porter, *An algorithm for suffix stripping*, Program 14(3), 1980. It
differs in two rules from the stems that stored indexes hold. `stem` rewrites the words concerned before it stems them,
so that stored terms and query terms stay equal:

- `-logi` and `-bli` become `-log` and `-ble`, as in Porter's reference implementation (technology → technolog).
- Each doubled consonant but l, s and z loses one letter after `-ed` and `-ing` (trekking → trek), as the paper says;
  snowball leaves c, h, j, k, q, v, w, x and y doubled.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from snowballstemmer import stemmer

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
