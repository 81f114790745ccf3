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
        Field(description="Stored after Unicode's compatibility normalisation (NFKC).", pattern=r"\S")
    )


class FeedbackRequest(Body):
    """The owner's rating of an answer."""

    rating: Rating | None = Field(description="null removes the rating.")


class ConversationsQuery(Query):
    """Parameters of a list of conversations."""

    limit: Limit = DEFAULT_PAGE
    cursor: Cursor | None = None
    title: Annotated[str, Field(max_length=MAX_TITLE_CHARACTERS)] = Field(
        "", description="Only conversations whose title contains this text, ignoring case."
    )


class MessagesQuery(Query):
    """Parameters of a list of messages."""

    limit: Limit = DEFAULT_PAGE
    cursor: Cursor | None = None
    order: Literal["asc", "desc"] = Field("asc", description="`asc` for oldest first, `desc` for newest first.")


class ConversationBody(Sent):
    """A conversation."""

    id: str
    title: str = Field(description="Empty until a job generates it or the owner sets it.")
    site: str
    created_at: datetime
    updated_at: datetime
    message_count: int = Field(ge=0)
    carried_from: str | None = Field(
        None, description="Id of the summary that it was started with. Present in carried conversations."
    )


class UsageBody(Sent):
    """Token counts of the provider."""

    input_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    output_tokens: int


class SourceBody(Sent):
    """A source that an answer cites."""

    id: str
    title: str
    url: str
    span: tuple[int, int] | None = Field(
        None, description="Position of a passage in its document's or message's text, in code points, end exclusive."
    )


class MessageBody(Sent):
    """A message."""

    id: str
    seq: int = Field(ge=1, description="Sequence number in the conversation.")
    role: Role
    content: str = Field(description="Markdown in answers.")
    created_at: datetime
    status: MessageStatus
    reply_to: int | None = Field(None, description="`seq` of the question. Present in answers.")
    sources: list[SourceBody] | None = Field(None, description="Sources in the order of citation. Present in answers.")
    usage: UsageBody | None = None
    rating: Rating | None = None
    degraded: bool | None = Field(None, description="True if part of the context was not available for the answer.")
    attachments: list[str] | None = None


class LayerBody(Sent):
    """Tokens of one layer of the prompt, and the ids of its sources."""

    layer: LayerName
    tokens: int
    sources: list[str]


class PromptBody(Sent):
    """The prompt context of an answer, and its cost."""

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
    """The prompt context of an answer."""

    answer_id: str


class ConversationList(Sent):
    """A page of conversations, most recently changed first."""

    items: list[ConversationBody]
    next_cursor: str | None = Field(None, description="Cursor of the next page. Absent on the last page.")


class MessageList(Sent):
    """A page of messages."""

    items: list[MessageBody]
    next_cursor: str | None = Field(None, description="Cursor of the next page. Absent on the last page.")


class FeedbackBody(Sent):
    """The stored rating."""

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
