"""`POST /api/ai-chat`: answer a question whose history the client sends. Nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from fencepost.conversations.domain.messages import Answer
from fencepost.http.cors import CorsPolicy
from fencepost.http.endpoint import EndpointRoute
from fencepost.http.errors import MethodNotAllowed
from fencepost.http.proxy import Request, Response, is_json, json_response
from fencepost.http.routing import PAID_ERRORS, Call, Route, RouteGroup, ok
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.limits.domain.requests import client_address
from fencepost.limits.service.address_guard import AddressGuard
from fencepost.observability.service import Trace
from fencepost.turns.routes.question import HISTORY_ERRORS, MESSAGE_ERRORS, read_question
from fencepost.turns.schemas.stateless_chat import ChatRequest, ChatResponse, chat_response
from fencepost.turns.service.stateless_chat import ChatService


def post_only(handle: Callable[[Call], Response]) -> EndpointRoute:
    """Return a route that answers preflights, refuses methods other than POST, and passes the rest to `handle`."""

    def checked(request: Request, trace: Trace) -> Response:
        if request.method == "OPTIONS":
            return Response("preflight", HTTPStatus.NO_CONTENT)
        if request.method != "POST":
            raise MethodNotAllowed("POST")
        return handle(Call(request, trace, {}))

    return checked


def demo(reply: str) -> Callable[[Call], Response]:
    """Return a handler that answers every request with `reply`. It reads, counts and calls nothing."""
    content = chat_response(Answer(reply, (), ""))
    return lambda _: json_response("demo", HTTPStatus.OK, content)


@dataclass(frozen=True, slots=True)
class Chat(RouteGroup):
    """Handler of the stateless chat. The first check that fails is the answer.

    Attributes:
        edge_secret: returns the secret by which CloudFront proves its identity; None where there is none.
    """

    cors: CorsPolicy
    guard: AddressGuard
    service: ChatService
    edge_secret: Callable[[], str | None]

    def __call__(self, call: Call) -> Response:
        """Answer a question.

        Raises:
            FencepostError: the first check that fails.
        """
        request, trace = call.request, call.trace
        # Not counted: any foreign page can send these, and must not use up a visitor's quota.
        if not self.cors.allows(request):
            raise FencepostError(ErrorCode.ORIGIN_NOT_ALLOWED)
        if not is_json(request):
            raise FencepostError(ErrorCode.UNSUPPORTED_MEDIA_TYPE)
        # Counted before the body is read: an invalid one counts as well, and a flood costs no parsing.
        with trace.stage("guard"):
            self.guard.admit(lambda: client_address(request.source_ip, request.headers, self.edge_secret))
        trace.counted = True
        try:
            body = request.body()
        except ValueError:
            raise FencepostError(ErrorCode.INVALID_JSON) from None
        answer = self.service.answer(read_question(body), trace)
        return json_response("answered", HTTPStatus.OK, chat_response(answer))

    table = (
        Route(
            "POST",
            "/api/ai-chat",
            __call__,
            "chat",
            "Ask a question about the site's documentation. The client sends the history.",
            ok(ChatResponse),
            ChatRequest,
            errors=(*MESSAGE_ERRORS, *HISTORY_ERRORS, *PAID_ERRORS, ErrorCode.DOCUMENTS_UNAVAILABLE),
            public=True,
            paid=True,
        ),
    )
