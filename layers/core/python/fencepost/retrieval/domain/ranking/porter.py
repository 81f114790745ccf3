"""English words without their endings, by Porter's algorithm.

M. F. Porter, *An algorithm for suffix stripping*, Program 14(3), 1980, with the two departures (`logi`, `bli`) of its
author's later reference implementation, as SQLite's FTS5 and Lucene have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

SHORTEST: Final = 3
"""Letters of the shortest word that has an ending."""
_REMEMBERED: Final = 50_000

_WORD: Final = re.compile("[a-z]+")

_DOUBLE: Final = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
)
_DERIVED: Final = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_LAST: Final = tuple(
    (ending, "")
    for ending in [
        "al",
        "ance",
        "ence",
        "er",
        "ic",
        "able",
        "ible",
        "ant",
        "ement",
        "ment",
        "ent",
        "ion",
        "ou",
        "ism",
        "ate",
        "iti",
        "ous",
        "ive",
        "ize",
    ]
)

type _Endings = Sequence[tuple[str, str]]


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """Return a lower-case word without its endings. What is not of ASCII letters alone is returned as it is."""
    if len(word) < SHORTEST or not _WORD.fullmatch(word):
        return word
    for step in _STEPS:
        word = step(word)
    return word


def _shape(word: str) -> str:
    """Return `c` for each consonant and `v` for each vowel. A `y` after a consonant is a vowel."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Return how often a vowel is followed by a consonant: m in the paper."""
    return _shape(word).count("vc")


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word).endswith("c")


def _short(word: str) -> bool:
    """Tell whether it ends with consonant, vowel, consonant, the last none of w, x, y: *o in the paper."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            return _mended(rest) if "v" in _shape(rest) else word
    return word


def _mended(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return f"{word}e"
    if _doubled(word):
        return word if word[-1] in "lsz" else word[:-1]
    return f"{word}e" if _measure(word) == 1 and _short(word) else word


def _final_y(word: str) -> str:
    return f"{word[:-1]}i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _replaced(endings: _Endings, least: int) -> Callable[[str], str]:
    """Return a step that replaces the longest ending, where more than `least` measures are left before it."""
    longest_first = sorted(endings, key=lambda pair: -len(pair[0]))

    def step(word: str) -> str:
        for ending, better in longest_first:
            if word.endswith(ending):
                rest = word.removesuffix(ending)
                kept = _measure(rest) <= least or (ending == "ion" and not rest.endswith(("s", "t")))
                return word if kept else f"{rest}{better}"
        return word

    return step


def _final_e(word: str) -> str:
    rest = word.removesuffix("e")
    if rest == word:
        return word
    measure = _measure(rest)
    return rest if measure > 1 or (measure == 1 and not _short(rest)) else word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


_STEPS: Final[tuple[Callable[[str], str], ...]] = (
    _plural,
    _past,
    _final_y,
    _replaced(_DOUBLE, 0),
    _replaced(_DERIVED, 0),
    _replaced(_LAST, 1),
    _final_e,
    _final_l,
)
