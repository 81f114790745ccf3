"""Values that a turn exchanges with the turn store: claims, prompt material and settlements.

A turn acquires a conversation's lease by writing its question into the conversation's row as the *open turn*. It writes
the rows of question and answer together when it settles, so the numbers of messages have neither gaps nor repeats. If
the process of a turn dies, its question stays in the conversation's row. The next turn finishes that question, or parks
it in a separate row.
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
"""Duration of a lease: one second longer than the function's timeout, so that a running turn never loses its lease."""
BUSY_SECONDS = 5.0
"""Maximum wait of a message for the conversation's running turn."""
JOIN_SECONDS = 20.0
"""Maximum wait of a retry for the answer of the running turn with the same message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """A validated and screened message.

    Attributes:
        message: the normalised and trimmed text, as the model receives it.
        message_id: the client's id, or a random one if the client sent none.
        conversation_id: the conversation of the message; None begins one.
        site: public key of a site, for members; None selects the organisation's default.
        attachments: ids of files of the caller.
    """

    message: str
    message_id: str
    conversation_id: str | None = None
    site: str | None = None
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One transaction that acquires the lease and stores the question as pending.

    Attributes:
        fingerprint: fingerprint of the question's text and files.
        content: text of the question.
        holder: random id of this process as the holder of the lease.
        now: start of the lease.
        until: end of the lease.
        site: id of the conversation's required site; empty outside all sites.
        begins: the conversation's row if this turn creates it; None if it exists.
        resumes: holder of the dead turn whose question is in the conversation's row already, if any.
        answers_seq: number of the question if it has a row: it was parked, or its answer is regenerated.
        regenerates: revision of the new answer if an answer is regenerated.
        key: fingerprint of the client's idempotency key; each key generates one revision of a question only.
        keep_days: days for which the site keeps messages; 0 keeps all.
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
    """A running turn.

    Attributes:
        scope: authorised with the membership that was read last.
        claim: the requested claim, then the granted one.
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
    """The reasons why the store refused a claim, with the stored rows at that moment.

    Attributes:
        membership_changed: the caller's permission differs from that of the scope.
        conversation: the stored row, if its condition failed.
        gone: the conversation or the message does not exist.
        pointer: place of the stored message with this id, if any.
        files_gone: a file of the question was erased, or is used by the maximum number of conversations.
        contended: another transaction was writing the same rows. Nothing else is known, and the claim may be retried at
            once.
    """

    membership_changed: bool = False
    conversation: Conversation | None = None
    gone: bool = False
    pointer: MessagePointer | None = None
    files_gone: bool = False
    contended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMaterial:
    """Stored data for a prompt, loaded after the claim.

    Attributes:
        conversation: the conversation, with this turn as its open turn.
        recent: the newest messages, oldest first, without superseded ones; they include this turn's question if it has
            a row.
        facts: pinned facts of the owner.
        membership: the caller's current membership; None for visitors, and for members whose membership was removed.
    """

    conversation: Conversation
    recent: tuple[Message, ...]
    summary: Summary | None
    facts: tuple[Fact, ...]
    membership: Membership | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """One transaction at the end of a turn. It requires that `holder` still holds the lease.

    Attributes:
        question: row of the question, `answered`; None if the question has a row, of which only the status changes.
        question_seq: number of the question.
        answer: row of the answer, `complete`.
        supersedes: `seq` of the answer that the new one replaces, if any.
        key: fingerprint of the client's idempotency key, if any.
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
    """The reasons why the store refused a settlement. If no attribute is set, another turn holds the lease.

    Attributes:
        membership_ended: the caller is no longer an active member.
        membership: the caller's stored membership, if there is one.
        gone: the conversation was erased. One that was imported again under the same id counts as another conversation.
    """

    membership_ended: bool = False
    membership: Membership | None = None
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAnswer:
    """The answer that a turn returns, with its conversation.

    Attributes:
        message_id: id of the question.
        answer: message of the answer.
    """

    conversation_id: str
    message_id: str
    answer: Message


def fingerprint(text: str, attachments: Sequence[str] = ()) -> str:
    """Return the fingerprint of a question or an idempotency key: a hexadecimal SHA-256.

    It is the digest of the text; with attachments, the digest of the text's digest and the files' ids.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()
    return fingerprint("\n".join([digest, *attachments])) if attachments else digest


def new_conversation(site: Site, now: datetime) -> Conversation:
    """Return an empty conversation of a site, with a new id and a random incarnation."""
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
        request: the message, with its conversation unless it begins one.
        site: the expected site of the conversation; the store may hold another one.
        now: start of the lease.
        begins: the new conversation, if the request begins one.
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
