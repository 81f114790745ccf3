"""Conversations, messages and answers' contexts as they are stored, the stateless chat's values, and titles."""

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
    """Status of a message.

    A question is `pending` until its answer is stored, then `answered`. An answer is `complete`, and `superseded` once
    it was regenerated.
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
        id: of a question, the client's or ours; of an answer, `<question's id>.<revision>`, with revisions from 1.
        seq: number in the conversation, from 1 and without gaps.
        reply_to: `seq` of the question that an answer belongs to.
        attachments: ids of a question's files.
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
        """Whether the message is an answered question or a current answer."""
        return self.status in (MessageStatus.ANSWERED, MessageStatus.COMPLETE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """The turn that holds the conversation's lease, or held it when its process died.

    Attributes:
        message_id: id of the question.
        seq: number of the question.
        holder: random; only the process that drew it may settle.
        until: when the lease ends; in the past once a failed turn released it.
        regenerates: revision of the answer that is being regenerated; None for a first answer.
        key: fingerprint of the client's idempotency key, if any.
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
        incarnation: random, drawn when the row is created. Jobs and writers require it, so that none of them writes to
            a conversation that was erased and imported again.
        next_seq: the number that the next message gets.
        summarised_through: the last `seq` that the rolling summary covers; 0 without one.
        archived_through: the last `seq` whose row has moved to S3; 0 where none has.
        kept_from: the first `seq` that retention has left; messages below it are hidden.
        carried_from: id of the summary that was carried over at the beginning, if any.
        keep_days: days after which a message is hidden, as the site had it at the last turn; 0 keeps all.
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
    """The place of a question. Pointers are in the owner's partition, so message ids are unique for each owner.

    Attributes:
        fingerprint: of the question's text and files (`fencepost.turns.domain.turns.fingerprint`), so that an id is
            never used for two questions.
    """

    message_id: str
    conversation_id: str
    seq: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """The audit view of one answer: the layers of its prompt, usage and cost. Erased with the conversation."""

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
    """Return the id of a question's answer. It contains a dot, which clients' ids may not."""
    return f"{message_id}.{revision}"


def revision_of(answer: Message) -> int:
    """Return the revision of an answer, from 1."""
    return int(answer.id.rpartition(".")[2])


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of a client's history. `signature` is the one that we returned with an assistant turn, if any."""

    role: Role
    content: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A validated request of the stateless chat: the trimmed message, and the history, oldest first."""

    message: str
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the stateless chat: Markdown, sources in order of citation, and a signature over the turn chain."""

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
    """Return the beginning of a message on one line, without Markdown markup, `MAX_CHARACTERS` long at most.

    A longer message is cut at the end of a word where its script has words, never within a visible character, and ends
    with `…`. A message of markup alone is its own title.
    """
    line = " ".join(_MARKUP.sub(" ", message).split()) or " ".join(message.split())
    if len(line) <= MAX_CHARACTERS:
        return line
    room = MAX_CHARACTERS - len(_ELLIPSIS)
    end = line.rfind(" ", 0, room + 1)
    if end < room * _LEAST_SHARE:
        end = next((position for position in range(room, 0, -1) if not _is_joined(line, position)), room)
    return line[:end].rstrip(" ,;:、。，；：-–—") + _ELLIPSIS


def _is_joined(line: str, position: int) -> bool:
    """Tell whether a reader sees one character on both sides of this position."""
    before, after = line[position - 1], line[position]
    return (
        before in _JOINERS
        or after in _JOINERS
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        # Skin tones, and the tags of sub-national flags.
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
        or (_is_flag(before) and _is_flag(after))
    )


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
