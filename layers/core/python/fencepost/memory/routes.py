"""`/v1/facts…`: list and replace a caller's pinned facts, approve proposed ones, and delete facts."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.http.body import read_body, read_query
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, ok
from fencepost.http.schemas import done
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

_WRITE_ERRORS = (
    ErrorCode.FACTS_INVALID,
    ErrorCode.FACTS_TOO_LARGE,
    ErrorCode.INPUT_REFUSED,
    ErrorCode.SITE_UNKNOWN,
)


@dataclass(frozen=True, slots=True)
class FactRoutes(RouteGroup):
    """Each handler authorises, reads the request, acts, and answers with the facts as they now are."""

    service: FactService

    def _list(self, call: Call) -> Response:
        scope = call.scope(Action.READ)
        query = read_query(call.request, FactsQuery)
        return self._facts(scope, call.require_caller(), query.site, superseded=query.state == "all")

    def _replace(self, call: Call) -> Response:
        scope = call.scope(Action.WRITE)
        body = read_body(call.request, FactsRequest, ErrorCode.FACTS_INVALID)
        written = [fact if isinstance(fact, WrittenFact) else WrittenFact(text=fact) for fact in body.facts]
        # As for a message: each prompt will contain the fact. Hidden characters are evidence, and are removed later.
        if any(screen(fact.text) for fact in written):
            raise FencepostError(ErrorCode.INPUT_REFUSED)
        wanted = [WantedFact(shown_fact(fact.text), fact.id) for fact in written]
        self.service.rewrite(scope, call.require_caller(), wanted)
        return self._facts(scope, call.require_caller())

    def _approve(self, call: Call) -> Response:
        scope, fact_id = call.scope(Action.WRITE), call.params["id"]
        # The body may be left out: it only names the fact that this one replaces.
        body = (
            read_body(call.request, ApproveFactRequest, ErrorCode.FACTS_INVALID)
            if call.request.text
            else ApproveFactRequest()
        )
        self.service.approve(scope, call.require_caller(), fact_id, body.replaces)
        return self._facts(scope, call.require_caller())

    def _delete(self, call: Call) -> Response:
        scope = call.scope(Action.ERASE)
        self.service.delete(scope, call.params["id"])
        return self._facts(scope, call.require_caller())

    def _facts(self, scope: Scope, caller: Caller, site: str | None = None, *, superseded: bool = False) -> Response:
        facts = self.service.listed(scope, caller, site, superseded=superseded)
        # `facts` is what the next PUT may send: facts that the site pins are not the owner's to write.
        pinned = [fact.text for fact in facts if fact.state is FactState.PINNED and fact.pinned_by != "site"]
        items: list[FactItem] = list(map(fact_body, facts))
        return done(FactsBody(facts=pinned, items=items))

    table = (
        Route(
            "GET",
            "/v1/facts",
            _list,
            "listFacts",
            "List facts, those that the site pins first.",
            ok(FactsBody),
            query=FactsQuery,
            errors=(ErrorCode.SITE_UNKNOWN,),
        ),
        Route(
            "PUT",
            "/v1/facts",
            _replace,
            "writeFacts",
            "Replace the caller's pinned facts.",
            ok(FactsBody),
            FactsRequest,
            errors=_WRITE_ERRORS,
        ),
        Route(
            "POST",
            "/v1/facts/{id}/approve",
            _approve,
            "approveFact",
            "Approve a proposed fact.",
            ok(FactsBody),
            ApproveFactRequest,
            errors=_WRITE_ERRORS,
            optional_body=True,
        ),
        Route("DELETE", "/v1/facts/{id}", _delete, "deleteFact", "Delete a fact.", ok(FactsBody), leaving=True),
    )
