"""Request and response models of conversations and messages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessageStatus, Rating
from fencepost.http.body import Body, Query
from fencepost.http.schemas import DEFAULT_PAGE, Cursor, Limit, Sent
from fencepost.kernel.text import normalise
from fencepost.model.domain import LayerName, Role

MAX_TITLE_CHARACTERS = 200


def _shown(title: str) -> str:
    shown = normalise(title).strip()
    if not shown or len(shown) > MAX_TITLE_CHARACTERS:
        raise PydanticCustomError("title", "nothing to be seen, or too long once normalised")
    return shown


class RenameRequest(Body):
    """A conversation's new title."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TITLE_CHARACTERS), AfterValidator(_shown)] = (
        Field(description="Kept as it is, after Unicode's compatibility normalisation (NFKC).", pattern=r"\S")
    )


class FeedbackRequest(Body):
    """What the owner thinks of an answer."""

    rating: Rating | None = Field(description="null takes a rating back.")


class ConversationsQuery(Query):
    """Which conversations to list."""

    limit: Limit = DEFAULT_PAGE
    cursor: Cursor | None = None
    title: Annotated[str, Field(max_length=MAX_TITLE_CHARACTERS)] = Field(
        "", description="Only those whose title contains this, whatever its case."
    )


class MessagesQuery(Query):
    """Which messages to list, and from which end."""

    limit: Limit = DEFAULT_PAGE
    cursor: Cursor | None = None
    order: Literal["asc", "desc"] = Field("asc", description="`asc` begins with the oldest, `desc` with the newest.")


class ConversationBody(Sent):
    """A conversation."""

    id: str
    title: str = Field(description="Empty until it was made in the background, or chosen.")
    site: str
    created_at: datetime
    updated_at: datetime
    message_count: int = Field(ge=0)
    carried_from: str | None = Field(None, description="The summary that it began with, where it was carried over.")


class UsageBody(Sent):
    """What the provider counted."""

    input_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    output_tokens: int


class SourceBody(Sent):
    """What an answer cites."""

    id: str
    title: str
    url: str
    span: tuple[int, int] | None = Field(
        None, description="Where a passage stands in its document's or message's text, in code points, end exclusive."
    )


class MessageBody(Sent):
    """A message."""

    id: str
    seq: int = Field(ge=1, description="Its place in the conversation.")
    role: Role
    content: str = Field(description="Markdown in answers.")
    created_at: datetime
    status: MessageStatus
    reply_to: int | None = Field(None, description="Of an answer, the question's `seq`.")
    sources: list[SourceBody] | None = Field(None, description="Of an answer, in the order in which it cites them.")
    usage: UsageBody | None = None
    rating: Rating | None = None
    degraded: bool | None = Field(None, description="True where the answer had to do without part of its context.")
    attachments: list[str] | None = None


class LayerBody(Sent):
    """What one layer of the prompt took, and the ids of all that stood in it."""

    layer: LayerName
    tokens: int
    sources: list[str]


class PromptBody(Sent):
    """What went into an answer's prompt, and what it cost."""

    created_at: datetime
    model: str
    prompt_version: str
    permission_version: int
    layers: list[LayerBody]
    usage: UsageBody | None = None
    cost_microdollars: int
    cited: list[str]
    degraded: bool


class ContextBody(PromptBody):
    """The audit view of an answer: what went into its prompt."""

    answer_id: str


class ConversationList(Sent):
    """A page of conversations, the last changed first."""

    items: list[ConversationBody]
    next_cursor: str | None = Field(None, description="Where the next page begins. Absent at the end.")


class MessageList(Sent):
    """A page of messages."""

    items: list[MessageBody]
    next_cursor: str | None = Field(None, description="Where the next page begins. Absent at the end.")


class FeedbackBody(Sent):
    """The rating that is stored."""

    message_id: str
    rating: Rating | None = None


def conversation_body(conversation: Conversation) -> ConversationBody:
    """Return the body of a conversation. A question that waits for its answer counts as a message."""
    waiting = conversation.open_turn is not None and conversation.open_turn.seq >= conversation.next_seq
    return ConversationBody(
        id=conversation.id,
        title=conversation.title,
        site=conversation.site,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        message_count=conversation.next_seq - conversation.kept_from + waiting,
        carried_from=conversation.carried_from,
    )


def message_body(message: Message) -> MessageBody:
    """Return the body of a message. Only answers have sources."""
    return MessageBody(
        id=message.id,
        seq=message.seq,
        role=message.role,
        content=message.content,
        created_at=message.created_at,
        status=message.status,
        reply_to=message.reply_to,
        sources=list(map(SourceBody.model_validate, message.sources)) if message.role is Role.ASSISTANT else None,
        usage=None if message.usage is None else UsageBody.model_validate(message.usage),
        rating=message.rating,
        degraded=message.degraded or None,
        attachments=list(message.attachments) or None,
    )


def context_body(context: AnswerContext) -> ContextBody:
    """Return the body of an answer's prompt context."""
    return ContextBody.model_validate(context)
