"""The title of a conversation: the first words of its first message."""

from __future__ import annotations

import re
import unicodedata

MAX_CHARACTERS = 60
"""Unicode code points of a title that we make."""

_ELLIPSIS = "…"
# Marks, joiners and selectors belong to the character before them, and what follows a joiner belongs to it as well.
_JOINERS = frozenset("\u200c\u200d")
_MARKUP = re.compile(r"(?m)^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+|```.*$)|[`*]+")
# A cut within the last third of the room is at a word's end if there is one there; else in the word, as in scripts
# that write no spaces.
_LEAST_SHARE = 2 / 3


def title_of(message: str) -> str:
    """Return the message's beginning on one line, without Markdown's signs, at most `MAX_CHARACTERS` long.

    A longer one is cut at the end of a word where its script has words, never within a character that a reader sees,
    and ends with `…`. A message of signs alone is its own title.
    """
    line = " ".join(_MARKUP.sub(" ", message).split()) or " ".join(message.split())
    if len(line) <= MAX_CHARACTERS:
        return line
    room = MAX_CHARACTERS - len(_ELLIPSIS)
    return line[: _cut(line, room)].rstrip(" ,;:、。，；：-–—") + _ELLIPSIS


def _cut(line: str, room: int) -> int:
    word = line.rfind(" ", 0, room + 1)
    if word >= room * _LEAST_SHARE:
        return word
    return next((end for end in range(room, 0, -1) if not _is_joined(line, end)), room)


def _is_joined(line: str, position: int) -> bool:
    """Tell whether a reader sees one character on both sides of this position."""
    before, after = line[position - 1], line[position]
    return (
        before in _JOINERS
        or after in _JOINERS
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        or _is_modifier(after)
        or (_is_flag(before) and _is_flag(after))
    )


def _is_modifier(character: str) -> bool:
    """Skin tones, and the tags of sub-national flags."""
    return "\U0001f3fb" <= character <= "\U0001f3ff" or "\U000e0020" <= character <= "\U000e007f"


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
