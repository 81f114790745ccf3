"""The values that a turn exchanges with the store: what it claims, what it finds, and what it settles.

A turn takes a conversation's lease by writing its question into the conversation's row as the *open turn*. Rows of
messages are written when it settles, question and answer together, so numbers have neither gaps nor repeats. A question
whose turn died stays in the row; whoever comes next finishes it, or parks it as a row of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.domain.memory import Fact, Summary
from fencepost.domain.messages import AnswerContext, Conversation, Message, MessagePointer

LEASE = timedelta(seconds=30)
"""How long a turn holds its conversation: a second more than the function may run, so a live turn never loses it."""
BUSY_SECONDS = 5.0
"""How long a second message waits for the turn before it."""
JOIN_SECONDS = 20.0
"""How long a retry waits for the answer of its own running turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """A message, validated and screened.

    Attributes:
        message: as the model gets it: normalised and trimmed.
        message_id: the client's, or drawn by us where it sent none.
        conversation_id: None begins a conversation.
        site: public key of a site, for members; None takes the organisation's default.
        attachments: ids of the caller's own files.
    """

    message: str
    message_id: str
    conversation_id: str | None = None
    site: str | None = None
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one transaction takes: the lease, and the question as pending.

    Attributes:
        begins: the conversation's row where this turn makes it; None where it is there already.
        resumes: the dead turn's holder, where the question stands in the row already.
        answers_seq: number of the question where it is a row already, parked or about to be answered anew.
        regenerates: the revision to be made of an answer that exists.
    """

    conversation_id: str
    message_id: str
    fingerprint: str
    content: str
    holder: str
    now: datetime
    until: datetime
    begins: Conversation | None = None
    resumes: str | None = None
    answers_seq: int | None = None
    regenerates: int | None = None
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRefused:
    """What stood in the way, as the store held it at that moment.

    Attributes:
        membership_changed: the permission is not that of the scope any more.
        conversation: the row as it is, where its condition failed; None where there is no such conversation.
        pointer: where a message with this id stands, where one does.
        contended: another writer was at work; nothing is known, and trying again makes sense at once.
    """

    membership_changed: bool = False
    conversation: Conversation | None = None
    pointer: MessagePointer | None = None
    contended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMaterial:
    """What is loaded for a prompt, after the claim.

    Attributes:
        conversation: with this turn as its open one.
        recent: the newest messages before this turn, oldest first, superseded ones left out.
        facts: the owner's pinned ones.
    """

    conversation: Conversation
    recent: tuple[Message, ...]
    summary: Summary | None
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What one transaction stores at the end of a turn, on condition that the lease is still its own.

    Attributes:
        question: its row, `answered`; None where it is a row already and only its status changes.
        question_seq: number of the question.
        answer: its row, `complete`.
        supersedes: `seq` of the answer that this one takes the place of.
    """

    conversation: Conversation
    holder: str
    question: Message | None
    question_seq: int
    question_id: str
    answer: Message
    context: AnswerContext
    now: datetime
    supersedes: int | None = None
