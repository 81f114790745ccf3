"""A lexicon that finds which of many literals occur in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile("[a-z\u0400-\u04ff]{2,}")
_PAIR = re.compile(r"[^\x00-\x7f\s]\S")
# Two lengths tell most words apart: six letters of the long ones, four of the others.
_LONG, _SHORT = 6, 4


class Lexicon:
    """Finds which of its literals occur in a text, without searching for each of them.

    A literal is searched for only if its key occurs: the beginning of its longest word or, in scripts that do not
    separate words, two adjacent characters. Two passes over the distinct words of the text find all keys.
    """

    def __init__(self, literals: Iterable[str]) -> None:
        self._ranks = {literal: rank for rank, literal in enumerate(dict.fromkeys(literals))}
        self._by_key: dict[str, list[str]] = {}
        for literal in self._ranks:
            self._by_key.setdefault(_key(literal), []).append(literal)
        self._pairs = _pairs(key for key in self._by_key if key and not _WORD.match(key))

    def occurring(self, text: str) -> list[str]:
        """Return the literals that occur in a folded text, in the order in which they were given."""
        once = " ".join(dict.fromkeys(text.split()))
        words = set(_WORD.findall(once))
        keys = {word[:_LONG] for word in words} | {word[:_SHORT] for word in words} | {""}
        if not text.isascii():
            keys.update(map("".join, set(self._pairs.findall(once))))
        candidates = (literal for key in self._by_key.keys() & keys for literal in self._by_key[key])
        return sorted((literal for literal in candidates if literal in text), key=self._ranks.__getitem__)


def _key(literal: str) -> str:
    words = [match for match in _WORD.finditer(literal) if len(match[0]) >= _SHORT or match.end() < len(literal)]
    if words:
        longest = max((match[0] for match in words), key=len)
        return longest[: _LONG if len(longest) >= _LONG else _SHORT]
    # A short word at the end may go on in the text: such a literal has no key and is always looked for.
    pair = _PAIR.search(literal)
    return pair[0] if pair else ""


def _pairs(keys: Iterable[str]) -> re.Pattern[str]:
    first, second = (re.escape("".join(sorted(set(characters)))) for characters in zip(*keys, strict=True))
    return re.compile(f"([{first}])(?=([{second}]))")
