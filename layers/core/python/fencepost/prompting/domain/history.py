"""Earlier turns as exchanges, valid for the provider, and the window of them that a prompt shows."""

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
    """A question with its complete answer. Nothing parts the two.

    Attributes:
        seq: the question's number in its conversation; 0 where it has none.
        sources: `msg:<id>` of question and answer; empty where they have none.
    """

    question: str
    answer: str
    seq: int = 0
    sources: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """An upper bound on what the two turns add to a request."""
        return count_tokens(self.question) + count_tokens(self.answer) + 2 * (TURN_TOKENS + BLOCK_TOKENS)


def client_exchanges(history: Iterable[Turn]) -> tuple[Exchange, ...]:
    """Return a client's history as exchanges, oldest first.

    - Blank turns are dropped; consecutive turns of one role become one, joined by a blank line.
    - What the assistant says before the user has spoken is dropped, as is what the user said without an answer.

    Merged turns carry no signature: verify before.

    Args:
        history: as the client sent it, oldest first.
    """
    turns = _merged(turn for turn in history if not is_blank(turn.content))
    if turns and turns[0].role is Role.ASSISTANT:
        turns = turns[1:]
    return tuple(Exchange(*pair) for pair in zip(_texts(turns[::2]), _texts(turns[1::2]), strict=False))


def stored_exchanges(messages: Iterable[Message], before: int) -> tuple[Exchange, ...]:
    """Return the exchanges whose questions stand before a number, in the order of their questions.

    Questions without a complete answer, answers without their question and superseded answers are left out, and so is
    what is blank, which the provider refuses.
    """
    said = [message for message in messages if not is_blank(message.content)]
    questions = {message.seq: message for message in said if message.role is Role.USER and message.seq < before}
    answers = {
        message.reply_to: message
        for message in said
        if message.status is MessageStatus.COMPLETE and message.reply_to in questions
    }
    return tuple(_exchange(questions[seq], answers[seq]) for seq in sorted(questions) if seq in answers)


def newest(exchanges: Sequence[Exchange], budget_tokens: int) -> tuple[Exchange, ...]:
    """Return the newest exchanges that fit, oldest first. One that does not fit ends the history."""
    left = budget_tokens

    def fits(exchange: Exchange) -> bool:
        nonlocal left
        left -= exchange.tokens
        return left >= 0

    return tuple(takewhile(fits, reversed(exchanges)))[::-1]


def window(exchanges: Sequence[Exchange], budget_tokens: int, *, begins: int = 1) -> tuple[Exchange, ...]:
    """Return the newest exchanges that fit, but begin at a round number, so that the beginning stays for many turns.

    Of the numbers between the oldest exchange that fits and the middle one, the window begins at the one that the
    highest power of two divides. As a conversation grows, this number only ever rises, and seldom: up to half of what
    would fit is given up, and in between each prompt's history begins with all of the one before (docs/adr/0009).

    Args:
        exchanges: with numbers, oldest first.
        budget_tokens: what the result may count.
        begins: the number before which nothing is known to be left out; 1 where `exchanges` are all there are.
    """
    kept = newest(exchanges, budget_tokens)
    if not kept or (begins == 1 and len(kept) == len(exchanges)):
        return kept
    start = _roundest(kept[0].seq, kept[len(kept) // 2].seq)
    return tuple(exchange for exchange in kept if exchange.seq >= start)


def is_blank(text: str) -> bool:
    """Whether nothing but white space, controls and format characters is in the text; the provider refuses those."""
    return all(character.isspace() or unicodedata.category(character) in ("Cc", "Cf") for character in text)


def _roundest(first: int, last: int) -> int:
    """Return the number from `first` (at least 1) to `last` that the highest power of two divides."""
    number = last
    while (rounder := number & (number - 1)) >= first:
        number = rounder
    return number


def _exchange(question: Message, answer: Message) -> Exchange:
    return Exchange(question.content, answer.content, question.seq, (f"msg:{question.id}", f"msg:{answer.id}"))


def _texts(turns: Iterable[Turn]) -> Iterator[str]:
    return (turn.content for turn in turns)


def _merged(turns: Iterable[Turn]) -> list[Turn]:
    return [_merge(list(run)) for _, run in groupby(turns, key=lambda turn: turn.role)]


def _merge(run: list[Turn]) -> Turn:
    return run[0] if len(run) == 1 else Turn(run[0].role, _SEPARATOR.join(turn.content for turn in run))
