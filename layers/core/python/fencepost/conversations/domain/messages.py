"""Conversations and messages as they are stored."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from fencepost.kernel.money import Usage
from fencepost.model.domain import LayerUse, Role, Source


class MessageStatus(StrEnum):
    """What became of a message.

    A question is `pending` until its answer is stored, then `answered`. An answer is `complete`, and `superseded` once
    it was generated anew.
    """

    PENDING = "pending"
    ANSWERED = "answered"
    COMPLETE = "complete"
    SUPERSEDED = "superseded"


type Rating = Literal["up", "down"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message.

    Attributes:
        id: of a question, the client's or ours; of an answer `<question's id>.<revision>`, counted from 1.
        seq: its place in the conversation, from 1, without gaps.
        reply_to: of an answer, the question's `seq`.
        attachments: ids of files that the question brings.
    """

    id: str
    seq: int
    role: Role
    content: str
    created_at: datetime
    status: MessageStatus
    reply_to: int | None = None
    sources: tuple[Source, ...] = ()
    usage: Usage | None = None
    rating: Rating | None = None
    degraded: bool = False
    attachments: tuple[str, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether it is an answered question, or an answer that stands."""
        return self.status in (MessageStatus.ANSWERED, MessageStatus.COMPLETE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """The turn that holds the conversation's lease, or held it when its process died.

    Attributes:
        message_id: the question's.
        seq: the question's.
        holder: random; only its process may settle.
        until: when the lease ends. Released early, by a failure, it is in the past.
        regenerates: the revision that is being made of an answer that exists; None for a first answer.
        key: the fingerprint of the client's key for making it, where it sent one.
    """

    message_id: str
    seq: int
    holder: str
    until: datetime
    regenerates: int | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation's own row.

    Attributes:
        incarnation: random, drawn when the row is made. Jobs and writers are bound to it: what was erased and came
            back, by an import, is another one.
        next_seq: the number that the next message gets.
        summarised_through: the last `seq` that the rolling summary covers; 0 without one.
        archived_through: the last `seq` whose row has moved to S3; 0 where none has.
        kept_from: the first `seq` that retention has left; what is below it is not shown any more.
        carried_from: id of the summary that it began with, where it was carried over.
        keep_days: days after which a message is not shown any more, as its site said at the last turn; 0 keeps all.
    """

    id: str
    site: str
    incarnation: str
    title: str
    created_at: datetime
    updated_at: datetime
    next_seq: int
    open_turn: OpenTurn | None = None
    summarised_through: int = 0
    archived_through: int = 0
    kept_from: int = 1
    carried_from: str | None = None
    keep_days: int = 0


@dataclass(frozen=True, slots=True)
class MessagePointer:
    """Where a question with this id stands; kept in the owner's partition, so ids are an owner's own namespace.

    Attributes:
        fingerprint: of the question's text and files (`fencepost.turns.domain.turns.fingerprint`), so that an id is
        never
            used for two questions.
    """

    message_id: str
    conversation_id: str
    seq: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """The audit view of one answer: what went into its prompt. It is erased with its conversation."""

    answer_id: str
    created_at: datetime
    model: str
    prompt_version: str
    permission_version: int
    layers: tuple[LayerUse, ...]
    usage: Usage | None = None
    cost_microdollars: int
    cited: tuple[str, ...] = ()
    degraded: bool = False


def answer_id(message_id: str, revision: int) -> str:
    """Return the id of a question's answer. Clients' ids have no dot, so it is nobody else's."""
    return f"{message_id}.{revision}"


def revision_of(answer: Message) -> int:
    """Return which of its question's answers a message is, counted from 1."""
    return int(answer.id.rpartition(".")[2])


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of a history. `signature` is what we returned with an assistant turn, if the client kept it."""

    role: Role
    content: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A validated request: the message, trimmed, and what was said before, oldest first."""

    message: str
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a visitor gets: Markdown, its sources in order of citation, and a signature over the turn chain."""

    response: str
    sources: tuple[Source, ...]
    signature: str


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
