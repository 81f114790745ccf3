"""`POST /v1/chat` and `POST …/messages/{mid}/regenerate`: answer a message of a stored conversation, once or again."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING

from fencepost.http.body import read_content, validated
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import PAID_ERRORS, Call, Route, RouteGroup, ok
from fencepost.http.schemas import shown
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.ports import Clock
from fencepost.screening.domain.screen import screen
from fencepost.turns.domain.turns import TurnAnswer, TurnRequest
from fencepost.turns.routes.question import MESSAGE_CODES, MESSAGE_ERRORS
from fencepost.turns.schemas.turns import IDEMPOTENCY_KEY, TurnAnswerBody, TurnBody, turn_answer_body
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
_IDEMPOTENCY_KEY = re.compile(IDEMPOTENCY_KEY)
_REGENERATE_ERRORS = (
    *PAID_ERRORS,
    ErrorCode.REGENERATE_NOT_LAST,
    ErrorCode.ANSWER_MISSING,
    ErrorCode.CONVERSATION_BUSY,
    ErrorCode.SITE_UNKNOWN,
)


@dataclass(frozen=True, slots=True)
class TurnRoutes(RouteGroup):
    """Validates and screens a message as the stateless chat does, then answers it."""

    service: TurnService
    clock: Clock

    def _chat(self, call: Call) -> Response:
        body = validated(TurnBody, read_content(call.request), _code)
        # Screened as it was sent: hidden characters, which `shown` removes, are evidence.
        if screen(body.message):
            raise FencepostError(ErrorCode.INPUT_REFUSED)
        request = TurnRequest(
            message=shown(body.message),
            message_id=body.message_id or uuid7(self.clock(), secrets.randbits(RANDOM_BITS)),
            conversation_id=body.conversation_id,
            site=body.site,
            attachments=tuple(dict.fromkeys(body.attachments)),
        )
        return _answered(self.service.answer(call.require_caller(), request, call.trace))

    table = (
        Route(
            "POST",
            "/v1/chat",
            _chat,
            "say",
            "Send a message in a stored conversation, or start one. Costs at most one model call.",
            ok(TurnAnswerBody),
            TurnBody,
            errors=(
                *MESSAGE_ERRORS,
                *PAID_ERRORS,
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
            paid=True,
        ),
    )


@dataclass(frozen=True, slots=True)
class RegenerateRoutes(RouteGroup):
    """Answers the latest question again. A message's id is enough to find it; its conversation may be named as well."""

    service: TurnService

    def _regenerate(self, call: Call) -> Response:
        key, params = call.request.headers.get("idempotency-key"), call.params
        if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
            raise FencepostError(ErrorCode.IDEMPOTENCY_KEY_INVALID)
        caller = call.require_caller()
        return _answered(self.service.regenerate(caller, params["mid"], call.trace, params.get("id"), key))

    table = (
        Route(
            "POST",
            "/v1/conversations/{id}/messages/{mid}/regenerate",
            _regenerate,
            "regenerateAnswerInConversation",
            "Generate the latest answer again. Costs one model call.",
            ok(TurnAnswerBody),
            errors=_REGENERATE_ERRORS,
            paid=True,
            idempotent=True,
        ),
        Route(
            "POST",
            "/v1/messages/{mid}/regenerate",
            _regenerate,
            "regenerateAnswer",
            "Generate the latest answer again. Costs one model call.",
            ok(TurnAnswerBody),
            errors=_REGENERATE_ERRORS,
            paid=True,
            idempotent=True,
        ),
    )


def _code(detail: ErrorDetails) -> ErrorCode:
    field = detail["loc"][0]
    # Any other failure of a message, e.g. a lone surrogate, means that it is no text.
    return MESSAGE_CODES.get(detail["type"], ErrorCode.MESSAGE_NOT_A_STRING) if field == "message" else _CODES[field]


def _answered(answer: TurnAnswer) -> Response:
    return json_response("answered", HTTPStatus.OK, turn_answer_body(answer).wire())
