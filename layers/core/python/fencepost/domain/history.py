"""Earlier turns, cut to what fits and made valid for the provider."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import groupby, takewhile

from fencepost.domain.conversation import Role, Turn
from fencepost.domain.tokens import BLOCK_TOKENS, TURN_TOKENS, count_tokens

_SEPARATOR = "\n\n"


def prune(history: Iterable[Turn], budget_tokens: int) -> tuple[Turn, ...]:
    """Return the newest exchanges that fit, oldest first, as the provider accepts them before the current message.

    The result starts with the user, alternates and ends with the assistant, and no turn is blank:

    - blank turns are dropped; consecutive turns of one role become one, joined by a blank line;
    - what the assistant says before the user has spoken is dropped, as is what the user said without an answer;
    - exchanges, a user's turn with its answer, are dropped whole and oldest first until the rest fits.

    Merged turns carry no signature: verify before pruning.

    Args:
        history: as the client sent it, oldest first.
        budget_tokens: what the result may count, framing included (`turn_tokens`).
    """
    turns = _merged(turn for turn in history if not is_blank(turn.content))
    if turns and turns[0].role is Role.ASSISTANT:
        turns = turns[1:]
    exchanges = list(zip(turns[::2], turns[1::2], strict=False))
    return tuple(turn for pair in _newest(exchanges, budget_tokens) for turn in pair)


def turn_tokens(turn: Turn) -> int:
    """Return an upper bound on what the turn adds to a request."""
    return count_tokens(turn.content) + TURN_TOKENS + BLOCK_TOKENS


def is_blank(text: str) -> bool:
    """Whether nothing but white space, controls and format characters is in the text; the provider refuses those."""
    return all(character.isspace() or unicodedata.category(character) in ("Cc", "Cf") for character in text)


def _merged(turns: Iterable[Turn]) -> list[Turn]:
    return [_merge(list(run)) for _, run in groupby(turns, key=lambda turn: turn.role)]


def _merge(run: list[Turn]) -> Turn:
    return run[0] if len(run) == 1 else Turn(run[0].role, _SEPARATOR.join(turn.content for turn in run))


def _newest(exchanges: list[tuple[Turn, Turn]], budget: int) -> list[tuple[Turn, Turn]]:
    left = budget

    def fits(pair: tuple[Turn, Turn]) -> bool:
        nonlocal left
        left -= sum(map(turn_tokens, pair))
        return left >= 0

    return list(takewhile(fits, reversed(exchanges)))[::-1]
