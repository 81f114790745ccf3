"""`DELETE /v1/conversations/{id}`, `DELETE /v1/me` and `GET /v1/erasures/{id}`: to be forgotten, with a receipt."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from pydantic import Field

from fencepost.domain.erasures import Receipt
from fencepost.domain.identity import Action
from fencepost.edge.http import Response, json_response
from fencepost.edge.models_conversations import Sent
from fencepost.edge.router import Call, Route
from fencepost.services.erase import EraseService


class ReceiptBody(Sent):
    """What an erasure removed. What was erased cannot be read any more, whatever the status."""

    receipt_id: str = Field(description="For `GET /v1/erasures/{id}`.")
    status: Literal["running", "done"] = Field(
        description="While it runs, a job will look anew, once nothing can arrive any more that was begun before."
    )
    counts: dict[str, int] = Field(
        description="What was removed so far, by kind: rows, objects, and as `vectors` entries of the index."
    )
    verified: bool = Field(description="It was looked for anew, and nothing was left.")


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


def receipt_body(receipt: Receipt) -> ReceiptBody:
    """Return a receipt as the API's JSON."""
    return ReceiptBody(
        receipt_id=receipt.id, status=receipt.status, counts=dict(receipt.counts), verified=receipt.verified
    )


def _answer(receipt: Receipt) -> Response:
    status = HTTPStatus.OK if receipt.verified else HTTPStatus.ACCEPTED
    return json_response("done", status, receipt_body(receipt).wire())
