"""`POST /api/ai-chat`: the order of checks. The first that fails answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from fencepost.conversations.domain.messages import Answer, Question
from fencepost.http.cors import CorsPolicy
from fencepost.http.endpoint import EndpointRoute
from fencepost.http.errors import MethodNotAllowed
from fencepost.http.proxy import Request, Response, is_json, json_response
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.limits.domain.requests import client_address
from fencepost.limits.service.address_guard import AddressGuard
from fencepost.observability.service import Trace
from fencepost.turns.routes.question import read_question
from fencepost.turns.schemas.stateless_chat import chat_response
from fencepost.turns.service.stateless_chat import ChatService


def post_only(route: EndpointRoute) -> EndpointRoute:
    """Answer preflights and refuse other methods than POST."""

    def checked(request: Request, trace: Trace) -> Response:
        if request.method == "OPTIONS":
            return Response("preflight", HTTPStatus.NO_CONTENT)
        if request.method != "POST":
            raise MethodNotAllowed("POST")
        return route(request, trace)

    return checked


def demo(reply: str) -> EndpointRoute:
    """Answer everything with one reply. Nothing is read, counted or called."""
    content = chat_response(Answer(reply, (), ""))

    def respond(request: Request, trace: Trace) -> Response:  # noqa: ARG001 - a demo reads no request
        return json_response("demo", HTTPStatus.OK, content)

    return respond


@dataclass(frozen=True, slots=True)
class Chat:
    """The real thing.

    Attributes:
        edge_secret: reads what CloudFront sends to prove itself.
    """

    cors: CorsPolicy
    guard: AddressGuard
    service: ChatService
    edge_secret: Callable[[], str | None]

    def __call__(self, request: Request, trace: Trace) -> Response:
        """Answer a question, or raise what is wrong with it.

        Raises:
            FencepostError: the first check that fails.
        """
        self._require_welcome(request)
        # Counted before the body is looked at: a rejected one counts as well, and a flood costs no reading.
        self._count(request, trace)
        answer = self.service.answer(_read(request), trace)
        return json_response("answered", HTTPStatus.OK, chat_response(answer))

    def _require_welcome(self, request: Request) -> None:
        """Refuse, uncounted, what a foreign page can send: it must not use up a visitor's quota."""
        if not self.cors.allows(request):
            raise FencepostError(ErrorCode.ORIGIN_NOT_ALLOWED)
        if not is_json(request):
            raise FencepostError(ErrorCode.UNSUPPORTED_MEDIA_TYPE)

    def _count(self, request: Request, trace: Trace) -> None:
        with trace.stage("guard"):
            self.guard.admit(lambda: client_address(request.source_ip, request.headers, self.edge_secret))
        trace.counted = True


def _read(request: Request) -> Question:
    try:
        body = request.body()
    except ValueError:
        raise FencepostError(ErrorCode.INVALID_JSON) from None
    return read_question(body)
