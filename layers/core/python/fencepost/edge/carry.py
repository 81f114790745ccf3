"""`…/summary`, `…/summary/approve` and `…/carry`: to go on in another organisation with what one has approved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from pydantic import Field

from fencepost.domain.errors import ErrorCode
from fencepost.domain.identity import Action
from fencepost.domain.memory import Summary
from fencepost.edge.body import Body, read_body
from fencepost.edge.http import Response, json_response
from fencepost.edge.models_conversations import Sent, conversation_body
from fencepost.edge.router import Call, Route
from fencepost.services.carry import CarryService


class CarryRequest(Body):
    """Where to go on."""

    organisation: Annotated[str, Field(min_length=1, max_length=63)] = Field(
        description="Id of another organisation where the caller is an active member."
    )
    site: Annotated[str, Field(min_length=1, max_length=128)] | None = Field(
        None, description="Public key of one of its sites; without it, its default."
    )


class ApproveRequest(Body):
    """What was read."""

    summary_id: Annotated[str, Field(min_length=1, max_length=64, alias="summaryId")] = Field(
        description="The `id` of the summary that the caller has read."
    )


class SummaryLineBody(Sent):
    """One statement, and what it rests on."""

    text: str
    sources: list[str] = Field(description="Ids of messages; of a summary, where it was carried over.")


class SummaryBody(Sent):
    """A conversation's rolling summary. It is never the only copy of anything."""

    id: str
    lines: list[SummaryLineBody]
    first_seq: int
    last_seq: int
    content_hash: str = Field(description="SHA-256 over the messages that it covers.")
    prompt_version: str
    model: str
    created_at: datetime
    approved: bool = Field(description="It may be carried into another organisation.")


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


def summary_body(summary: Summary) -> SummaryBody:
    """Return a summary as the API's JSON."""
    return SummaryBody.model_validate(summary, from_attributes=True)


def _answer(summary: Summary) -> Response:
    return json_response("done", HTTPStatus.OK, summary_body(summary).wire())
