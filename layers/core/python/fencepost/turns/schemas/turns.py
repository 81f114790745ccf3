"""Request and response models of `POST /v1/chat` and of regenerated answers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fencepost.conversations.domain.attachments import MAX_ATTACHMENTS
from fencepost.conversations.schemas.conversations import SourceBody, UsageBody, message_body
from fencepost.http.body import Body
from fencepost.http.schemas import Sent
from fencepost.turns.domain.turns import TurnAnswer
from fencepost.turns.schemas.stateless_chat import QuestionText

MESSAGE_ID = r"^[A-Za-z0-9_-]{1,64}$"
IDEMPOTENCY_KEY = r"[!-~]{1,128}"
_ID = r"^[!-~]{1,255}$"


class TurnBody(Body):
    """A message in a stored conversation."""

    message: QuestionText
    conversation_id: Annotated[str, Field(pattern=_ID)] | None = Field(
        None, alias="conversationId", description="Conversation to continue. If left out, a new one starts."
    )
    message_id: Annotated[str, Field(pattern=MESSAGE_ID)] | None = Field(
        None,
        alias="messageId",
        description="Client-chosen id of this message. Sent again, it gets the same answer at no further cost.",
    )
    site: Annotated[str, Field(min_length=1, max_length=128)] | None = Field(
        None,
        description="Public key of a site, for members. Without it a conversation begins on the organisation's default "
        "site; one that is there stays on its own, and no other may be named.",
    )
    attachments: list[Annotated[str, Field(pattern=_ID)]] = Field(
        default_factory=list, max_length=MAX_ATTACHMENTS, description="Ids of uploaded files."
    )


class TurnAnswerBody(Sent):
    """The answer of a turn, with the ids of its conversation and messages."""

    conversation_id: str
    message_id: str = Field(description="Id of the question: chosen by the client, or generated.")
    answer_id: str
    response: str = Field(description="Markdown.")
    sources: list[SourceBody] = Field(description="In the order in which the answer cites them.")
    usage: UsageBody | None = Field(None, description="Token counts of the provider, where it reported them.")
    degraded: bool | None = Field(None, description="True if part of the context was not available for the answer.")


def turn_answer_body(turn: TurnAnswer) -> TurnAnswerBody:
    """Return the body of a turn's answer."""
    answer = message_body(turn.answer)
    return TurnAnswerBody(
        conversation_id=turn.conversation_id,
        message_id=turn.message_id,
        answer_id=answer.id,
        response=answer.content,
        sources=answer.sources or [],
        usage=answer.usage,
        degraded=answer.degraded,
    )
