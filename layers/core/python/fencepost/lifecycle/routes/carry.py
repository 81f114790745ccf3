"""`…/summary`, `…/summary/approve` and `…/carry`: to go on in another organisation with what one has approved."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fencepost.conversations.schemas.conversations import conversation_body
from fencepost.http.body import read_body
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.identity.domain.scope import Action
from fencepost.kernel.errors import ErrorCode
from fencepost.lifecycle.schemas.storage import ApproveRequest, CarryRequest, summary_body
from fencepost.lifecycle.service.carry import CarryService
from fencepost.memory.domain.summaries import Summary


@dataclass(frozen=True, slots=True)
class CarryRoutes:
    """Each route authorises, then reads what was sent, then acts."""

    service: CarryService

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("GET", "/v1/conversations/{id}/summary", self._summary),
            Route("POST", "/v1/conversations/{id}/summary/approve", self._approve),
            Route("POST", "/v1/conversations/{id}/carry", self._carry),
        )

    def _summary(self, call: Call) -> Response:
        return _answer(self.service.summary(call.scope(Action.READ), call.params["id"]))

    def _approve(self, call: Call) -> Response:
        scope = call.scope(Action.WRITE)
        body = read_body(call.request, ApproveRequest, ErrorCode.SUMMARY_ID_INVALID)
        return _answer(self.service.approve(scope, call.params["id"], body.summary_id))

    def _carry(self, call: Call) -> Response:
        scope = call.scope(Action.CARRY)
        body = read_body(call.request, CarryRequest, ErrorCode.CARRY_INVALID)
        conversation = self.service.carry(scope, call.params["id"], body.organisation, body.site)
        return json_response("done", HTTPStatus.CREATED, conversation_body(conversation).wire())


def _answer(summary: Summary) -> Response:
    return json_response("done", HTTPStatus.OK, summary_body(summary).wire())
