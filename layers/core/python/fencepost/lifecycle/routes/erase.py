"""`DELETE /v1/conversations/{id}`, `DELETE /v1/me` and `GET /v1/erasures/{id}`: to be forgotten, with a receipt."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.identity.domain.scope import Action
from fencepost.lifecycle.domain.erasures import Receipt
from fencepost.lifecycle.schemas.storage import receipt_body
from fencepost.lifecycle.service.erase import EraseService


@dataclass(frozen=True, slots=True)
class EraseRoutes:
    """Answers 200 with a receipt where nothing was left, and 202 where a job removes the rest."""

    service: EraseService

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("DELETE", "/v1/conversations/{id}", self._conversation, leaving=True),
            Route("DELETE", "/v1/me", self._everything, leaving=True),
            Route("GET", "/v1/erasures/{id}", self._receipt, leaving=True),
        )

    def _conversation(self, call: Call) -> Response:
        return _answer(self.service.conversation(call.scope(Action.ERASE), call.params["id"]))

    def _everything(self, call: Call) -> Response:
        return _answer(self.service.everything(call.scope(Action.ERASE)))

    def _receipt(self, call: Call) -> Response:
        body = receipt_body(self.service.receipt(call.scope(Action.READ), call.params["id"]))
        return json_response("done", HTTPStatus.OK, body.wire())


def _answer(receipt: Receipt) -> Response:
    status = HTTPStatus.OK if receipt.verified else HTTPStatus.ACCEPTED
    return json_response("done", status, receipt_body(receipt).wire())
