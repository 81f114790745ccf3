"""`POST /v1/chat` and `POST /v1/messages/{mid}/regenerate`: the turns of a conversation that is remembered."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING

from fencepost.http.body import read_content, validated
from fencepost.http.proxy import Request, Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.http.schemas import shown
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.ports import Clock
from fencepost.screening.domain.screen import screen
from fencepost.turns.domain.turns import TurnAnswer, TurnRequest
from fencepost.turns.routes.question import MESSAGE_CODES
from fencepost.turns.schemas.turns import IDEMPOTENCY_KEY, TurnBody, turn_answer_body
from fencepost.turns.service.turns import TurnService

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_CODES: Mapping[int | str, ErrorCode] = MappingProxyType(
    {
        "conversationId": ErrorCode.CONVERSATION_ID_INVALID,
        "messageId": ErrorCode.MESSAGE_ID_INVALID,
        "site": ErrorCode.SITE_MISSING,
        "attachments": ErrorCode.ATTACHMENTS_INVALID,
    }
)
_KEY = re.compile(IDEMPOTENCY_KEY)


@dataclass(frozen=True, slots=True)
class TurnRoutes:
    """Reads what was sent, checks and screens it as the stateless chat does, and has it answered."""

    service: TurnService
    clock: Clock

    def chat(self) -> tuple[Route, ...]:
        """Return the route of the chat function."""
        return (Route("POST", "/v1/chat", self._chat, paid=True),)

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of the API function."""
        return (
            Route("POST", "/v1/messages/{mid}/regenerate", self._regenerate, paid=True),
            Route("POST", "/v1/conversations/{id}/messages/{mid}/regenerate", self._regenerate, paid=True),
        )

    def _chat(self, call: Call) -> Response:
        body = _screened(validated(TurnBody, read_content(call.request), _code))
        request = TurnRequest(
            message=shown(body.message),
            message_id=body.message_id or uuid7(self.clock(), secrets.randbits(RANDOM_BITS)),
            conversation_id=body.conversation_id,
            site=body.site,
            attachments=tuple(dict.fromkeys(body.attachments)),
        )
        return _answered(self.service.answer(call.require_caller(), request, call.trace))

    def _regenerate(self, call: Call) -> Response:
        key, params = _idempotency_key(call.request), call.params
        return _answered(
            self.service.regenerate(call.require_caller(), params["mid"], call.trace, params.get("id"), key)
        )


def _idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise FencepostError(ErrorCode.IDEMPOTENCY_KEY_INVALID)
    return key


def _code(detail: ErrorDetails) -> ErrorCode:
    field = detail["loc"][0]
    # Whatever else can be wrong with a text is that it cannot be read: the message is named as what it is not.
    return MESSAGE_CODES.get(detail["type"], ErrorCode.MESSAGE_NOT_A_STRING) if field == "message" else _CODES[field]


def _screened(body: TurnBody) -> TurnBody:
    """Refuse what the screening names, before hidden characters go: they tell much."""
    if screen(body.message):
        raise FencepostError(ErrorCode.INPUT_REFUSED)
    return body


def _answered(answer: TurnAnswer) -> Response:
    return json_response("answered", HTTPStatus.OK, turn_answer_body(answer).wire())
