"""`DELETE /v1/conversations/{id}`, `DELETE /v1/me` and `GET /v1/erasures/{id}`: erase data, with a receipt."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Responses, Route, RouteGroup, ok
from fencepost.http.schemas import done
from fencepost.identity.domain.scope import Action
from fencepost.lifecycle.domain.erasures import Receipt
from fencepost.lifecycle.schemas.erase import ReceiptBody, receipt_body
from fencepost.lifecycle.service.erase import EraseService

_RECEIPTS: Responses = {HTTPStatus.OK: ReceiptBody, HTTPStatus.ACCEPTED: ReceiptBody}


@dataclass(frozen=True, slots=True)
class EraseRoutes(RouteGroup):
    """Answers 200 with a receipt where nothing is left, and 202 where a job removes the rest."""

    service: EraseService

    def _conversation(self, call: Call) -> Response:
        return _receipt(self.service.conversation(call.scope(Action.ERASE), call.params["id"]))

    def _everything(self, call: Call) -> Response:
        return _receipt(self.service.everything(call.scope(Action.ERASE)))

    def _get(self, call: Call) -> Response:
        return done(receipt_body(self.service.receipt(call.scope(Action.READ), call.params["id"])))

    table = (
        Route(
            "DELETE",
            "/v1/conversations/{id}",
            _conversation,
            "eraseConversation",
            "Erase a conversation and everything derived from it.",
            _RECEIPTS,
            leaving=True,
        ),
        Route(
            "DELETE",
            "/v1/me",
            _everything,
            "eraseEverything",
            "Erase all data of the caller in this organisation.",
            _RECEIPTS,
            leaving=True,
        ),
        Route(
            "GET",
            "/v1/erasures/{id}",
            _get,
            "readErasure",
            "Read the receipt of an erasure.",
            ok(ReceiptBody),
            leaving=True,
        ),
    )


def _receipt(receipt: Receipt) -> Response:
    return done(receipt_body(receipt), HTTPStatus.OK if receipt.verified else HTTPStatus.ACCEPTED)
