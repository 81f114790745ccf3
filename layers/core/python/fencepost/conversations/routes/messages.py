"""Messages: list those of a conversation, read the prompt context of an answer, and rate an answer.

A message's id is enough to find it. The context is also served below `/v1/conversations/{id}`, for clients that address
messages by conversation.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.conversations.schemas.conversations import (
    ContextBody,
    FeedbackBody,
    FeedbackRequest,
    MessageList,
    MessagesQuery,
    context_body,
    message_body,
)
from fencepost.conversations.service.conversations import ConversationService
from fencepost.http.body import read_body, read_query
from fencepost.http.cursors import Cursors
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, ok
from fencepost.http.schemas import done
from fencepost.identity.domain.scope import Action
from fencepost.kernel.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class MessageRoutes(RouteGroup):
    """Each handler authorises, reads the request, then acts."""

    service: ConversationService
    cursors: Cursors

    def _list(self, call: Call) -> Response:
        scope, conversation_id = call.scope(Action.READ), call.params["id"]
        query = read_query(call.request, MessagesQuery, cursor=ErrorCode.CURSOR_INVALID)
        listing = ("messages", conversation_id, query.order)
        after = self.cursors.read(scope, listing, query.cursor)
        page = self.service.messages(
            scope,
            conversation_id,
            after=None if after is None else int(after),
            limit=query.limit,
            newest_first=query.order == "desc",
        )
        cursor = self.cursors.write(scope, listing, page.next_key)
        return done(MessageList(items=list(map(message_body, page.items)), next_cursor=cursor))

    def _context(self, call: Call) -> Response:
        scope = call.scope(Action.READ)
        return done(context_body(self.service.context(scope, call.params["mid"], call.params.get("id"))))

    def _rate(self, call: Call) -> Response:
        scope, message_id = call.scope(Action.WRITE), call.params["mid"]
        body = read_body(call.request, FeedbackRequest, ErrorCode.RATING_INVALID)
        self.service.rate(scope, message_id, body.rating)
        return done(FeedbackBody(message_id=message_id, rating=body.rating))

    table = (
        Route(
            "GET",
            "/v1/conversations/{id}/messages",
            _list,
            "listMessages",
            "List a conversation's messages, oldest or newest first.",
            ok(MessageList),
            query=MessagesQuery,
            errors=(ErrorCode.CURSOR_INVALID,),
        ),
        Route(
            "GET",
            "/v1/conversations/{id}/messages/{mid}/context",
            _context,
            "readContextInConversation",
            "Read the prompt context of an answer.",
            ok(ContextBody),
            errors=(ErrorCode.ANSWER_MISSING,),
        ),
        Route(
            "GET",
            "/v1/messages/{mid}/context",
            _context,
            "readContext",
            "Read the prompt context of an answer.",
            ok(ContextBody),
            errors=(ErrorCode.ANSWER_MISSING,),
        ),
        Route(
            "POST",
            "/v1/messages/{mid}/feedback",
            _rate,
            "rateAnswer",
            "Rate an answer.",
            ok(FeedbackBody),
            FeedbackRequest,
            errors=(ErrorCode.RATING_INVALID, ErrorCode.ANSWER_MISSING),
        ),
    )
