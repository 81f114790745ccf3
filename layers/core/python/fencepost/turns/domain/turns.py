"""The values that a turn exchanges with the store: what it claims, what it finds, and what it settles.

A turn takes a conversation's lease by writing its question into the conversation's row as the *open turn*. Rows of
messages are written when it settles, question and answer together, so numbers have neither gaps nor repeats. A question
whose turn died stays in the row; whoever comes next finishes it, or parks it as a row of its own.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer
from fencepost.identity.domain.scope import Caller, Membership, Scope
from fencepost.identity.domain.sites import Fact, Site
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.memory.domain.summaries import Summary

_RANDOM_BYTES = 12

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
        site: id of the site that the conversation must be on; empty outside all sites.
        begins: the conversation's row where this turn makes it; None where it is there already.
        resumes: the dead turn's holder, where the question stands in the row already.
        answers_seq: number of the question where it is a row already, parked or about to be answered anew.
        regenerates: the revision to be made of an answer that exists.
        key: the fingerprint of the client's key for making it: under one key one revision is made of a question.
        keep_days: days for which the site keeps messages; 0 keeps them.
    """

    conversation_id: str
    message_id: str
    fingerprint: str
    content: str
    holder: str
    now: datetime
    until: datetime
    site: str
    begins: Conversation | None = None
    resumes: str | None = None
    answers_seq: int | None = None
    regenerates: int | None = None
    key: str | None = None
    attachments: tuple[str, ...] = ()
    keep_days: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTurn:
    """A turn on its way.

    Attributes:
        scope: authorised by the membership that was read last.
        claim: the wanted claim, then the granted one.
        attachments: texts of the question's files.
    """

    caller: Caller
    scope: Scope
    site: Site
    request: TurnRequest
    claim: Claim
    attachments: Sequence[AttachedText] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRefused:
    """What stood in the way, as the store held it at that moment.

    Attributes:
        membership_changed: the permission is not that of the scope any more.
        conversation: the row as it is, where its condition failed.
        gone: there is no such conversation, or no such message in it.
        pointer: where a message with this id stands, where one does.
        files_gone: a file of the question was erased, or as many conversations use it as one may be used by.
        contended: another writer was at work; nothing is known, and trying again makes sense at once.
    """

    membership_changed: bool = False
    conversation: Conversation | None = None
    gone: bool = False
    pointer: MessagePointer | None = None
    files_gone: bool = False
    contended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMaterial:
    """What is loaded for a prompt, after the claim.

    Attributes:
        conversation: with this turn as its open one.
        recent: the newest messages, oldest first, superseded ones left out; this turn's own question where it is a row.
        facts: the owner's pinned ones.
        membership: the caller's as it is now; None for visitors, and where there is none any more.
    """

    conversation: Conversation
    recent: tuple[Message, ...]
    summary: Summary | None
    facts: tuple[Fact, ...]
    membership: Membership | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What one transaction stores at the end of a turn, on condition that the lease is still its own.

    Attributes:
        question: its row, `answered`; None where it is a row already and only its status changes.
        question_seq: number of the question.
        answer: its row, `complete`.
        supersedes: `seq` of the answer that this one takes the place of.
        key: the fingerprint of the key under which it was asked for.
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
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleRefused:
    """What stood in the way of a settlement. Where it is neither of these, another turn holds the lease.

    Attributes:
        membership_ended: who asked is not an active member any more.
        membership: theirs as it is, where one is left.
        gone: the conversation was erased; one that came back under its id is another one.
    """

    membership_ended: bool = False
    membership: Membership | None = None
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAnswer:
    """What a turn gives its client: the answer's message, and where it stands.

    Attributes:
        message_id: the question's.
    """

    conversation_id: str
    message_id: str
    answer: Message


def fingerprint(text: str, attachments: Sequence[str] = ()) -> str:
    """Return what tells questions, or keys, apart: hexadecimal SHA-256 of the text, and of the files' ids with that."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return fingerprint("\n".join([digest, *attachments])) if attachments else digest


def new_conversation(site: Site, now: datetime) -> Conversation:
    """Return an empty conversation on a site, with a random id and incarnation."""
    return Conversation(
        id=uuid7(now, secrets.randbits(RANDOM_BITS)),
        site=site.id,
        incarnation=secrets.token_urlsafe(_RANDOM_BYTES),
        title="",
        created_at=now,
        updated_at=now,
        next_seq=1,
        keep_days=site.retention.days,
    )


def new_claim(request: TurnRequest, site: Site, now: datetime, *, begins: Conversation | None = None) -> Claim:
    """Return the claim for a request's message, with a random holder.

    Args:
        request: names the conversation, unless it begins one.
        site: the site that the message seems to be for.
        now: when the lease begins.
        begins: the new conversation, if any.
    """
    return Claim(
        conversation_id=begins.id if begins else request.conversation_id or "",
        message_id=request.message_id,
        fingerprint=fingerprint(request.message, request.attachments),
        content=request.message,
        holder=secrets.token_urlsafe(_RANDOM_BYTES),
        now=now,
        until=now + LEASE,
        site=site.id,
        begins=begins,
        attachments=request.attachments,
        keep_days=site.retention.days,
    )
