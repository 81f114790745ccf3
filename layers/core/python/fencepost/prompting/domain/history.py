"""Earlier turns as exchanges that the provider accepts, and the window of exchanges that a prompt contains."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from fencepost.conversations.domain.messages import Message, MessageStatus, Turn
from fencepost.model.domain import BLOCK_TOKENS, TURN_TOKENS, Role, count_tokens

_SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its complete answer. The two are kept or dropped together.

    Attributes:
        seq: number of the question in its conversation; 0 in a client's history.
        sources: `msg:<id>` of question and answer; empty in a client's history.
    """

    question: str
    answer: str
    seq: int = 0
    sources: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Upper bound on the tokens that the two turns add to a request."""
        return count_tokens(self.question) + count_tokens(self.answer) + 2 * (TURN_TOKENS + BLOCK_TOKENS)


def client_exchanges(history: Iterable[Turn]) -> tuple[Exchange, ...]:
    """Return the exchanges of a client's history, oldest first.

    - Blank turns are dropped. Consecutive turns of the same role are merged, separated by a blank line.
    - Assistant turns before the first user turn are dropped, and so is a last user turn without an answer.

    Merged turns have no signature, so signatures must be verified before.

    Args:
        history: the turns that the client sent, oldest first.
    """
    turns = _merged(turn for turn in history if not is_blank(turn.content))
    if turns and turns[0].role is Role.ASSISTANT:
        turns = turns[1:]
    return tuple(Exchange(*pair) for pair in zip(_texts(turns[::2]), _texts(turns[1::2]), strict=False))


def stored_exchanges(messages: Iterable[Message], before: int) -> tuple[Exchange, ...]:
    """Return the exchanges whose questions have a number below `before`, in the order of the questions.

    Questions without a complete answer, answers without a question, and superseded answers are left out. Blank messages
    are left out as well, because the provider refuses them.
    """
    said = [message for message in messages if not is_blank(message.content)]
    questions = {message.seq: message for message in said if message.role is Role.USER and message.seq < before}
    answers = {
        message.reply_to: message
        for message in said
        if message.status is MessageStatus.COMPLETE and message.reply_to in questions
    }
    pairs = [(questions[seq], answers[seq]) for seq in sorted(questions) if seq in answers]
    return tuple(
        Exchange(question.content, answer.content, question.seq, (f"msg:{question.id}", f"msg:{answer.id}"))
        for question, answer in pairs
    )


def newest(exchanges: Sequence[Exchange], budget_tokens: int) -> tuple[Exchange, ...]:
    """Return the newest exchanges that fit the budget, oldest first. The first misfit ends the search."""
    left = budget_tokens

    def fits(exchange: Exchange) -> bool:
        nonlocal left
        left -= exchange.tokens
        return left >= 0

    return tuple(takewhile(fits, reversed(exchanges)))[::-1]


def window(exchanges: Sequence[Exchange], budget_tokens: int, *, begins: int = 1) -> tuple[Exchange, ...]:
    """Return the newest exchanges that fit the budget, from a start that stays the same for many turns.

    The window starts at the number divisible by the highest power of two, among the numbers from the oldest exchange
    that fits to the middle one. As the conversation grows, this number rises seldom and never falls. Between two rises
    each prompt's history begins with the whole history of the prompt before, which the provider has cached. In return
    up to half of the exchanges that would fit are left out (docs/adr/0009).

    Args:
        exchanges: numbered exchanges, oldest first.
        budget_tokens: upper bound on the tokens of the result.
        begins: number of the first message that was loaded; 1 if `exchanges` are all exchanges of the conversation.
    """
    kept = newest(exchanges, budget_tokens)
    if not kept or (begins == 1 and len(kept) == len(exchanges)):
        return kept
    start = kept[len(kept) // 2].seq
    while (rounder := start & (start - 1)) >= kept[0].seq:
        start = rounder
    return tuple(exchange for exchange in kept if exchange.seq >= start)


def is_blank(text: str) -> bool:
    """Return whether a text has only white space, control and format characters. The provider refuses such texts."""
    return all(character.isspace() or unicodedata.category(character) in ("Cc", "Cf") for character in text)


def _texts(turns: Iterable[Turn]) -> Iterator[str]:
    return (turn.content for turn in turns)


def _merged(turns: Iterable[Turn]) -> list[Turn]:
    runs = [list(run) for _, run in groupby(turns, key=lambda turn: turn.role)]
    return [run[0] if len(run) == 1 else Turn(run[0].role, _SEPARATOR.join(_texts(run))) for run in runs]
