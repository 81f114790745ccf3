"""What a row of the pattern table is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property

from fencepost.kernel.text import fold


class Category(StrEnum):
    """What a refused text tries."""

    INSTRUCTION_OVERRIDE = "instruction_override"
    PROMPT_EXTRACTION = "prompt_extraction"
    CREDENTIAL_FISHING = "credential_fishing"
    ROLE_PLAY_ESCAPE = "role_play_escape"
    FAKE_TURN = "fake_turn"
    FENCE_BREAK_OUT = "fence_break_out"


@dataclass(frozen=True)
class Rule:
    r"""One pattern: `lead`, then one of `starts`, then `rest`.

    A rule is tried only where one of its starts occurs, and what it may read from there is bounded: `lead` looks back a
    fixed number of characters, `rest` holds no unbounded repeat. So a text costs its occurrences times a constant.

    All three are written as people write and folded like the texts; a space stands for a space or a line break.
    Escapes must be lower-case (`\b`, `\w`, `\d`, `\s`), because folding takes case away.

    Attributes:
        language: ISO 639-1, or `mul` for markup that belongs to no language.
        starts: literals, at least one.
        why: what the pattern catches, or why it is as narrow as it is.
        hit: a text that it refuses.
        miss: a similar text that it must let pass.
    """

    category: Category
    language: str
    starts: tuple[str, ...]
    rest: str
    why: str
    hit: str
    miss: str
    lead: str = ""

    @cached_property
    def folded_starts(self) -> tuple[str, ...]:
        """The starts as they occur in a folded text."""
        return tuple(fold(start) for start in self.starts)

    @cached_property
    def lead_expression(self) -> re.Pattern[str]:
        """What must hold where the start begins."""
        return _compile(self.lead)

    @cached_property
    def rest_expression(self) -> re.Pattern[str]:
        """What must follow where the start ends."""
        return _compile(self.rest)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(fold(pattern).replace(" ", r"\s"))


def literals(listing: str) -> tuple[str, ...]:
    """Return the literals of a listing; a bar parts them, and spaces count."""
    return tuple(listing.split("|"))


def after(*words: str) -> str:
    """Return a lead that wants a clause to begin here, or one of the words to stand before.

    An order begins its clause ("ignore the rules above") or follows a word of request ("please ignore …"); a question
    about a product says the same words in another place ("why does it ignore …").
    """
    by_width: dict[int, list[str]] = {}
    for word in map(fold, words):
        by_width.setdefault(len(word), []).append(word)
    # One look back for all words of a width costs little more than one for a single word.
    words_before = "".join(rf"|(?<=\b(?:{'|'.join(same)}) )" for same in by_width.values())
    return rf"(?:^|(?<=[\n.!?…:;,|>)\]–—-])|(?<=[.!?…:;,|>)\]–—-] ){words_before})"
