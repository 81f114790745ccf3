"""Chats, conversations and facts, as the OpenAPI document tells of them."""

from __future__ import annotations

from http import HTTPStatus

from fencepost.access.schemas import VisitorBody, VisitorRequest
from fencepost.conversations.schemas import conversations as said
from fencepost.http.operations import ANSWERING, Operation, created, ok
from fencepost.kernel.errors import ErrorCode
from fencepost.lifecycle.schemas.storage import ApproveRequest, CarryRequest, ReceiptBody, SummaryBody
from fencepost.memory import schemas as facts
from fencepost.turns.schemas.stateless_chat import ChatRequest, ChatResponse
from fencepost.turns.schemas.turns import TurnAnswerBody, TurnBody

_MESSAGE = (
    ErrorCode.MESSAGE_MISSING,
    ErrorCode.MESSAGE_NOT_A_STRING,
    ErrorCode.MESSAGE_BLANK,
    ErrorCode.MESSAGE_TOO_LONG,
    ErrorCode.INPUT_REFUSED,
)
_HISTORY = (
    ErrorCode.HISTORY_NOT_A_LIST,
    ErrorCode.HISTORY_TOO_LONG,
    ErrorCode.HISTORY_ENTRY_MALFORMED,
    ErrorCode.HISTORY_ROLE_INVALID,
    ErrorCode.HISTORY_CONTENT_TOO_LONG,
    ErrorCode.HISTORY_UNBALANCED,
    ErrorCode.HISTORY_UNSIGNED,
)

_REGENERATING = (
    *ANSWERING,
    ErrorCode.REGENERATE_NOT_LAST,
    ErrorCode.ANSWER_MISSING,
    ErrorCode.CONVERSATION_BUSY,
    ErrorCode.SITE_UNKNOWN,
)


def _in_conversation_too(operation: Operation) -> tuple[Operation, Operation]:
    """A message's id is enough to find it; clients that think in conversations name both."""
    path = operation.path.replace("/v1/", "/v1/conversations/{id}/", 1)
    return operation._replace(path=path, name=f"{operation.name}InConversation"), operation


CHAT = (
    Operation(
        "POST",
        "/api/ai-chat",
        "chat",
        "Ask a question about the site's documentation. The client sends what was said before.",
        ok(ChatResponse),
        ChatRequest,
        codes=(*_MESSAGE, *_HISTORY, *ANSWERING, ErrorCode.DOCUMENTS_UNAVAILABLE),
        public=True,
    ),
    Operation(
        "POST",
        "/v1/visitors",
        "visit",
        "Get a token for a visitor of a site, or with the old token a new one.",
        ok(VisitorBody),
        VisitorRequest,
        codes=(
            ErrorCode.SITE_MISSING,
            ErrorCode.SITE_UNKNOWN,
            ErrorCode.TOKEN_INVALID,
            ErrorCode.TOKEN_EXPIRED,
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        ),
        public=True,
    ),
    Operation(
        "POST",
        "/v1/chat",
        "say",
        "Say something in a conversation that is remembered, or begin one. It costs one call of the model at most.",
        ok(TurnAnswerBody),
        TurnBody,
        codes=(
            *_MESSAGE,
            *ANSWERING,
            ErrorCode.MESSAGE_ID_INVALID,
            ErrorCode.MESSAGE_ID_REUSED,
            ErrorCode.CONVERSATION_ID_INVALID,
            ErrorCode.CONVERSATION_BUSY,
            ErrorCode.SITE_MISMATCH,
            ErrorCode.SITE_MISSING,
            ErrorCode.SITE_UNKNOWN,
            ErrorCode.ATTACHMENTS_INVALID,
            ErrorCode.ATTACHMENT_NOT_READY,
            ErrorCode.ATTACHMENT_UNREADABLE,
        ),
    ),
)
CONVERSATIONS = (
    Operation(
        "GET",
        "/v1/conversations",
        "listConversations",
        "List conversations, the last changed first.",
        ok(said.ConversationList),
        query=said.ConversationsQuery,
        codes=(ErrorCode.CURSOR_INVALID,),
    ),
    Operation(
        "GET",
        "/v1/conversations/{id}",
        "readConversation",
        "Read a conversation's own data.",
        ok(said.ConversationBody),
    ),
    Operation(
        "PATCH",
        "/v1/conversations/{id}",
        "renameConversation",
        "Give a conversation another title.",
        ok(said.ConversationBody),
        said.RenameRequest,
        codes=(ErrorCode.TITLE_INVALID,),
    ),
    Operation(
        "DELETE",
        "/v1/conversations/{id}",
        "eraseConversation",
        "Erase a conversation and all that was made of it.",
        {HTTPStatus.OK: ReceiptBody, HTTPStatus.ACCEPTED: ReceiptBody},
    ),
    Operation(
        "DELETE",
        "/v1/me",
        "eraseEverything",
        "Erase everything of the caller in this organisation.",
        {HTTPStatus.OK: ReceiptBody, HTTPStatus.ACCEPTED: ReceiptBody},
    ),
    Operation("GET", "/v1/erasures/{id}", "readErasure", "Read what an erasure removed.", ok(ReceiptBody)),
    Operation(
        "GET",
        "/v1/conversations/{id}/messages",
        "listMessages",
        "List a conversation's messages, from either end.",
        ok(said.MessageList),
        query=said.MessagesQuery,
        codes=(ErrorCode.CURSOR_INVALID,),
    ),
    *_in_conversation_too(
        Operation(
            "GET",
            "/v1/messages/{mid}/context",
            "readContext",
            "Read what went into an answer's prompt.",
            ok(said.ContextBody),
            codes=(ErrorCode.ANSWER_MISSING,),
        )
    ),
    Operation(
        "POST",
        "/v1/messages/{mid}/feedback",
        "rateAnswer",
        "Say what one thinks of an answer.",
        ok(said.FeedbackBody),
        said.FeedbackRequest,
        codes=(ErrorCode.RATING_INVALID, ErrorCode.ANSWER_MISSING),
    ),
    *_in_conversation_too(
        Operation(
            "POST",
            "/v1/messages/{mid}/regenerate",
            "regenerateAnswer",
            "Have the latest answer generated anew. It costs one call of the model.",
            ok(TurnAnswerBody),
            codes=_REGENERATING,
            keyed=True,
        )
    ),
    Operation(
        "GET",
        "/v1/conversations/{id}/summary",
        "readSummary",
        "Read a conversation's rolling summary.",
        ok(SummaryBody),
        codes=(ErrorCode.SUMMARY_MISSING,),
    ),
    Operation(
        "POST",
        "/v1/conversations/{id}/summary/approve",
        "approveSummary",
        "Allow a summary to be carried into another organisation.",
        ok(SummaryBody),
        ApproveRequest,
        codes=(ErrorCode.SUMMARY_MISSING, ErrorCode.SUMMARY_ID_INVALID),
    ),
    Operation(
        "POST",
        "/v1/conversations/{id}/carry",
        "carryConversation",
        "Go on in another organisation with an approved summary.",
        created(said.ConversationBody),
        CarryRequest,
        codes=(
            ErrorCode.CARRY_INVALID,
            ErrorCode.CARRY_NOT_ALLOWED,
            ErrorCode.SUMMARY_MISSING,
            ErrorCode.SUMMARY_NOT_APPROVED,
            ErrorCode.SITE_UNKNOWN,
        ),
    ),
)
_FACTS = (ErrorCode.FACTS_INVALID, ErrorCode.FACTS_TOO_LARGE, ErrorCode.INPUT_REFUSED, ErrorCode.SITE_UNKNOWN)
FACTS = (
    Operation(
        "GET",
        "/v1/facts",
        "listFacts",
        "List what is kept in mind, what the site pins first.",
        ok(facts.FactsBody),
        query=facts.FactsQuery,
        codes=(ErrorCode.SITE_UNKNOWN,),
    ),
    Operation(
        "PUT",
        "/v1/facts",
        "writeFacts",
        "Say what is to be kept in mind from now on.",
        ok(facts.FactsBody),
        facts.FactsRequest,
        codes=_FACTS,
    ),
    Operation(
        "POST",
        "/v1/facts/{id}/approve",
        "approveFact",
        "Have a proposed fact kept in mind.",
        ok(facts.FactsBody),
        facts.ApproveFactRequest,
        codes=_FACTS,
        optional=True,
    ),
    Operation("DELETE", "/v1/facts/{id}", "deleteFact", "Remove a fact.", ok(facts.FactsBody)),
)
