"""`/v1/facts…`: what is to be kept in mind, as its owner writes it, and what a job proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from fencepost.http.body import read_body, read_query
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.identity.domain.scope import Action, Caller, Scope
from fencepost.identity.domain.sites import FactState
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.facts import WantedFact
from fencepost.memory.schemas import (
    ApproveFactRequest,
    FactItem,
    FactsBody,
    FactsQuery,
    FactsRequest,
    WrittenFact,
    fact_body,
    shown_fact,
)
from fencepost.memory.service.facts import FactService
from fencepost.screening.domain.screen import screen


@dataclass(frozen=True, slots=True)
class FactRoutes:
    """Each route authorises, then reads what was sent, then acts, and answers with the facts as they then are."""

    service: FactService

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("GET", "/v1/facts", self._listed),
            Route("PUT", "/v1/facts", self._rewrite),
            Route("POST", "/v1/facts/{id}/approve", self._approve),
            Route("DELETE", "/v1/facts/{id}", self._delete, leaving=True),
        )

    def _listed(self, call: Call) -> Response:
        scope = call.scope(Action.READ)
        query = read_query(call.request, FactsQuery)
        return self._answer(scope, call.require_caller(), query.site, superseded=query.state == "all")

    def _rewrite(self, call: Call) -> Response:
        scope = call.scope(Action.WRITE)
        body = read_body(call.request, FactsRequest, ErrorCode.FACTS_INVALID)
        self.service.rewrite(scope, call.require_caller(), _wanted(body.facts))
        return self._answer(scope, call.require_caller())

    def _approve(self, call: Call) -> Response:
        scope, fact_id = call.scope(Action.WRITE), call.params["id"]
        # The body may be left out: it only says what the fact takes the place of.
        sent = call.request.text
        body = read_body(call.request, ApproveFactRequest, ErrorCode.FACTS_INVALID) if sent else ApproveFactRequest()
        self.service.approve(scope, call.require_caller(), fact_id, body.replaces)
        return self._answer(scope, call.require_caller())

    def _delete(self, call: Call) -> Response:
        scope = call.scope(Action.ERASE)
        self.service.delete(scope, call.params["id"])
        return self._answer(scope, call.require_caller())

    def _answer(self, scope: Scope, caller: Caller, site: str | None = None, *, superseded: bool = False) -> Response:
        facts = self.service.listed(scope, caller, site, superseded=superseded)
        # The texts are what the next PUT may hold: the site's are not the owner's to write.
        pinned = [fact.text for fact in facts if fact.state is FactState.PINNED and fact.pinned_by != "site"]
        items: list[FactItem] = list(map(fact_body, facts))
        return json_response("done", HTTPStatus.OK, FactsBody(facts=pinned, items=items).wire())


def _wanted(sent: Sequence[str | WrittenFact]) -> list[WantedFact]:
    """Return what is to be pinned, screened before hidden characters go: they tell much.

    Raises:
        FencepostError: `input_refused`, as for a message: each prompt will hold it.
    """
    written = [fact if isinstance(fact, WrittenFact) else WrittenFact(text=fact) for fact in sent]
    if any(screen(fact.text) for fact in written):
        raise FencepostError(ErrorCode.INPUT_REFUSED)
    return [WantedFact(shown_fact(fact.text), fact.id) for fact in written]
