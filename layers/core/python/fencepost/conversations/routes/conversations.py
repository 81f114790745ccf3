"""`/v1/conversations…`: list, read and rename conversations."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.conversations.schemas.conversations import (
    ConversationBody,
    ConversationList,
    ConversationsQuery,
    RenameRequest,
    conversation_body,
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
class ConversationRoutes(RouteGroup):
    """Each handler authorises, reads the request, then acts."""

    service: ConversationService
    cursors: Cursors

    def _list(self, call: Call) -> Response:
        scope = call.scope(Action.READ)
        query = read_query(call.request, ConversationsQuery, cursor=ErrorCode.CURSOR_INVALID)
        listing = ("conversations", query.title.casefold())
        after = self.cursors.read(scope, listing, query.cursor)
        page = self.service.newest(scope, after=after, limit=query.limit, title=query.title)
        cursor = self.cursors.write(scope, listing, page.next_key)
        return done(ConversationList(items=list(map(conversation_body, page.items)), next_cursor=cursor))

    def _get(self, call: Call) -> Response:
        return done(conversation_body(self.service.get(call.scope(Action.READ), call.params["id"])))

    def _rename(self, call: Call) -> Response:
        scope = call.scope(Action.WRITE)
        body = read_body(call.request, RenameRequest, ErrorCode.TITLE_INVALID)
        return done(conversation_body(self.service.rename(scope, call.params["id"], body.title)))

    table = (
        Route(
            "GET",
            "/v1/conversations",
            _list,
            "listConversations",
            "List conversations, most recently changed first.",
            ok(ConversationList),
            query=ConversationsQuery,
            errors=(ErrorCode.CURSOR_INVALID,),
        ),
        Route(
            "GET",
            "/v1/conversations/{id}",
            _get,
            "readConversation",
            "Read a conversation, without its messages.",
            ok(ConversationBody),
        ),
        Route(
            "PATCH",
            "/v1/conversations/{id}",
            _rename,
            "renameConversation",
            "Rename a conversation.",
            ok(ConversationBody),
            RenameRequest,
            errors=(ErrorCode.TITLE_INVALID,),
        ),
    )
