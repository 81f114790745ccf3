"""Request and response models of diagnoses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from fencepost.conversations.domain.messages import Conversation, Message, MessageStatus
from fencepost.conversations.schemas.conversations import PromptBody, UsageBody
from fencepost.http.body import Body, Query
from fencepost.http.schemas import DEFAULT_PAGE, Cursor, Limit, Sent, Whole
from fencepost.kernel.input_limits import MAX_MINUTES, MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS
from fencepost.lifecycle.domain.diagnosis import Diagnosis, Look
from fencepost.lifecycle.service.diagnostics import View
from fencepost.model.domain import Role


class DiagnosisRequest(Body):
    """The conversation to diagnose, the reason, and the duration."""

    conversation_id: Annotated[str, Field(alias="conversationId", pattern=r"^[!-~]{1,255}$")]
    owner: str = Field(
        pattern=r"^(visitor|member):[!-~]{1,255}$", description="`visitor:<visitor id>` or `member:<subject>`."
    )
    reason: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=MIN_REASON_CHARACTERS, max_length=MAX_REASON_CHARACTERS),
    ] = Field(description="Kept on record for other admins to read.")
    minutes: Whole = Field(ge=1, le=MAX_MINUTES, description="Duration, after which the diagnosis ends.")


class DiagnosisQuery(Query):
    """Parameters of a list of masked messages."""

    limit: Limit = DEFAULT_PAGE
    cursor: Cursor | None = None


class LookBody(Sent):
    """One access by an admin during a diagnosis."""

    at: datetime
    what: str
    from_seq: int


class DiagnosisBody(Sent):
    """The record of a diagnosis."""

    id: str
    conversation_id: str
    owner: str
    opened_by: str
    reason: str
    opened_at: datetime
    until: datetime
    closed_at: datetime | None = None
    looks: int
    recent_looks: list[LookBody] | None = Field(None, description="Newest first.")


class DiagnosisList(Sent):
    """The organisation's newest diagnoses."""

    items: list[DiagnosisBody]


class MaskedMessage(Sent):
    """A message without personal data. Its client-chosen id is left out; `seq` identifies it."""

    seq: int
    role: Role
    content: str
    created_at: datetime
    status: MessageStatus
    degraded: bool | None = None
    attachments: int = Field(description="Number of attached files.")
    usage: UsageBody | None = None


class MaskedMessages(Sent):
    """A page of messages, oldest first."""

    title: str
    created_at: datetime
    updated_at: datetime
    summarised_through: int
    archived_through: int
    items: list[MaskedMessage]
    next_cursor: str | None = None


class DiagnosedContext(PromptBody):
    """The prompt context of an answer. Ids of messages are pseudonyms."""


def diagnosis_body(diagnosis: Diagnosis, looks: tuple[Look, ...] | None = None) -> DiagnosisBody:
    """Return the body of a diagnosis, with its recent looks where they were read."""
    recent = None if looks is None else [LookBody.model_validate(look) for look in looks]
    return DiagnosisBody.model_validate(diagnosis).model_copy(update={"recent_looks": recent})


def masked_messages(view: View, next_cursor: str | None) -> MaskedMessages:
    """Return the body of a page of masked messages."""
    conversation: Conversation = view.conversation
    return MaskedMessages(
        title=conversation.title,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        summarised_through=conversation.summarised_through,
        archived_through=conversation.archived_through,
        items=list(map(_masked_message, view.messages.items)),
        next_cursor=next_cursor,
    )


def _masked_message(message: Message) -> MaskedMessage:
    return MaskedMessage(
        seq=message.seq,
        role=message.role,
        content=message.content,
        created_at=message.created_at,
        status=message.status,
        degraded=message.degraded or None,
        attachments=len(message.attachments),
        usage=None if message.usage is None else UsageBody.model_validate(message.usage),
    )
