"""Where sentences begin and lines, items and long words may be cut. Every function's parts tile the text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Final

import regex
import sentencex

WINDOW_CHARACTERS: Final = 2_000
"""What the segmenter sees at a time: it takes quadratic time for languages without spaces."""
LONGEST_GRAPHEME: Final = 32
"""Code points; what is longer may be cut (UAX #15 needs no more than 30 for any text in Stream-Safe Format)."""

_GRAPHEME: Final = regex.compile(r"\X")
_SURROGATE: Final = regex.compile("[\ud800-\udfff]")
_LATIN: Final = "en"
"""Rules that also know 。！？ and suit languages that have none of their own."""


def sentences(text: str, language: str = "") -> list[str]:
    """Return the sentences of a text, each with the white space behind it.

    Args:
        text: without limit; one sentence may be cut every `WINDOW_CHARACTERS`.
        language: BCP 47; its abbreviations end no sentence.
    """
    parts: list[str] = []
    place = 0
    while place < len(text):
        window = next(slices(text[place : place + WINDOW_CHARACTERS + LONGEST_GRAPHEME], WINDOW_CHARACTERS))
        found = _segments(window, language)
        # What stands last may go on in the next window.
        if place + len(window) < len(text) and len(found) > 1:
            found.pop()
        parts.extend(found)
        place += sum(map(len, found))
    return parts


def lines(text: str) -> list[str]:
    r"""Return the lines of a text with their ends: `\n`, `\r` or both."""
    return list(io.StringIO(text, newline=""))


def slices(text: str, characters: int) -> Iterator[str]:
    """Yield slices of at most so many characters, cut behind white space where there is some in their second half.

    No grapheme (UAX #29) is cut, unless it alone is longer than a slice.
    """
    place = 0
    while len(text) - place > characters:
        end = place + _slice_end(text[place : place + characters + LONGEST_GRAPHEME], characters)
        yield text[place:end]
        place = end
    yield text[place:]


def _slice_end(window: str, characters: int) -> int:
    ends: list[int] = [end for match in _GRAPHEME.finditer(window) if (end := match.end()) <= characters]
    spaced = [end for end in ends if end > characters // 2 and window[end - 1].isspace()]
    return (spaced or ends or [characters])[-1]


def _segments(text: str, language: str) -> list[str]:
    # The segmenter's strings hold no lone surrogates, and it says nothing of white space alone.
    lengths = [len(part) for part in sentencex.segment(language or _LATIN, _SURROGATE.sub("\ufffd", text))]
    parts: list[str] = []
    for start, end in pairwise([0, *accumulate(lengths), len(text)]):
        part = text[start:end]
        if parts and (not part or part.isspace() or not _is_boundary(text, start)):
            parts[-1] += part
        elif part:
            parts.append(part)
    return parts


def _is_boundary(text: str, place: int) -> bool:
    match = _GRAPHEME.match(text[place - 1 : place + 1])
    return match is not None and match.end() == 1
