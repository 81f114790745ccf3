"""`…/summary`, `…/summary/approve` and `…/carry`: continue in another organisation with an approved summary."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fencepost.conversations.schemas.conversations import ConversationBody, conversation_body
from fencepost.http.body import read_body
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, created, ok
from fencepost.http.schemas import done
from fencepost.identity.domain.scope import Action
from fencepost.kernel.errors import ErrorCode
from fencepost.lifecycle.schemas.carry import ApproveRequest, CarryRequest, SummaryBody, summary_body
from fencepost.lifecycle.service.carry import CarryService


@dataclass(frozen=True, slots=True)
class CarryRoutes(RouteGroup):
    """Each handler authorises, reads the request, then acts."""

    service: CarryService

    def _summary(self, call: Call) -> Response:
        return done(summary_body(self.service.summary(call.scope(Action.READ), call.params["id"])))

    def _approve(self, call: Call) -> Response:
        scope = call.scope(Action.WRITE)
        body = read_body(call.request, ApproveRequest, ErrorCode.SUMMARY_ID_INVALID)
        return done(summary_body(self.service.approve(scope, call.params["id"], body.summary_id)))

    def _carry(self, call: Call) -> Response:
        scope = call.scope(Action.CARRY)
        body = read_body(call.request, CarryRequest, ErrorCode.CARRY_INVALID)
        conversation = self.service.carry(scope, call.params["id"], body.organisation, body.site)
        return done(conversation_body(conversation), HTTPStatus.CREATED)

    table = (
        Route(
            "GET",
            "/v1/conversations/{id}/summary",
            _summary,
            "readSummary",
            "Read a conversation's rolling summary.",
            ok(SummaryBody),
            errors=(ErrorCode.SUMMARY_MISSING,),
        ),
        Route(
            "POST",
            "/v1/conversations/{id}/summary/approve",
            _approve,
            "approveSummary",
            "Allow a summary to be carried into another organisation.",
            ok(SummaryBody),
            ApproveRequest,
            errors=(ErrorCode.SUMMARY_MISSING, ErrorCode.SUMMARY_ID_INVALID),
        ),
        Route(
            "POST",
            "/v1/conversations/{id}/carry",
            _carry,
            "carryConversation",
            "Continue in another organisation with an approved summary.",
            created(ConversationBody),
            CarryRequest,
            errors=(
                ErrorCode.CARRY_INVALID,
                ErrorCode.CARRY_NOT_ALLOWED,
                ErrorCode.SUMMARY_MISSING,
                ErrorCode.SUMMARY_NOT_APPROVED,
                ErrorCode.SITE_UNKNOWN,
            ),
        ),
    )
