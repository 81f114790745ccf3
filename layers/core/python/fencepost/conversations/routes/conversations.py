"""`/v1/conversations…` and `/v1/messages…`: what was said, to be read, renamed and rated."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fencepost.conversations.schemas.conversations import (
    ConversationList,
    ConversationsQuery,
    FeedbackBody,
    FeedbackRequest,
    MessageList,
    MessagesQuery,
    RenameRequest,
    context_body,
    conversation_body,
    message_body,
)
from fencepost.conversations.service.conversations import ConversationService
from fencepost.http.body import read_body, read_query
from fencepost.http.cursors import Cursors
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.http.schemas import Sent
from fencepost.identity.domain.scope import Action
from fencepost.kernel.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class ConversationRoutes:
    """Each route authorises, then reads what was sent, then acts."""

    service: ConversationService
    cursors: Cursors

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("GET", "/v1/conversations", self._newest),
            Route("GET", "/v1/conversations/{id}", self._get),
            Route("PATCH", "/v1/conversations/{id}", self._rename),
            Route("GET", "/v1/conversations/{id}/messages", self._messages),
            Route("GET", "/v1/conversations/{id}/messages/{mid}/context", self._context),
            Route("GET", "/v1/messages/{mid}/context", self._context),
            Route("POST", "/v1/messages/{mid}/feedback", self._feedback),
        )

    def _newest(self, call: Call) -> Response:
        scope = call.scope(Action.READ)
        query = read_query(call.request, ConversationsQuery, cursor=ErrorCode.CURSOR_INVALID)
        listing = ("conversations", query.title.casefold())
        after = self.cursors.read(scope, listing, query.cursor)
        page = self.service.newest(scope, after=after, limit=query.limit, title=query.title)
        cursor = self.cursors.write(scope, listing, page.next_key)
        return _ok(ConversationList(items=list(map(conversation_body, page.items)), next_cursor=cursor))

    def _get(self, call: Call) -> Response:
        return _ok(conversation_body(self.service.get(call.scope(Action.READ), call.params["id"])))

    def _rename(self, call: Call) -> Response:
        scope = call.scope(Action.WRITE)
        body = read_body(call.request, RenameRequest, ErrorCode.TITLE_INVALID)
        return _ok(conversation_body(self.service.rename(scope, call.params["id"], body.title)))

    def _messages(self, call: Call) -> Response:
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
        return _ok(MessageList(items=list(map(message_body, page.items)), next_cursor=cursor))

    def _context(self, call: Call) -> Response:
        scope = call.scope(Action.READ)
        return _ok(context_body(self.service.context(scope, call.params["mid"], call.params.get("id"))))

    def _feedback(self, call: Call) -> Response:
        scope, message_id = call.scope(Action.WRITE), call.params["mid"]
        body = read_body(call.request, FeedbackRequest, ErrorCode.RATING_INVALID)
        self.service.rate(scope, message_id, body.rating)
        return _ok(FeedbackBody(message_id=message_id, rating=body.rating))


def _ok(sent: Sent) -> Response:
    return json_response("done", HTTPStatus.OK, sent.wire())
