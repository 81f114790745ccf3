"""`/v1/admin/diagnostics…`: an admin's look into one conversation."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fencepost.http.body import read_body, read_query
from fencepost.http.cursors import Cursors
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.http.schemas import Sent
from fencepost.identity.domain.scope import Action, Resource, Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.domain.diagnosis import Diagnosis
from fencepost.lifecycle.schemas.diagnostics import (
    DiagnosedContext,
    DiagnosisList,
    DiagnosisQuery,
    DiagnosisRequest,
    diagnosis_body,
    masked_messages,
)
from fencepost.lifecycle.service.diagnostics import DiagnosticsService

_MOST_DIGITS = 12


@dataclass(frozen=True, slots=True)
class DiagnosticsRoutes:
    """Each route asks first whether an admin of the organisation is asking."""

    service: DiagnosticsService
    cursors: Cursors

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        path = "/v1/admin/diagnostics"
        return (
            Route("POST", path, self._open),
            Route("GET", path, self._newest),
            Route("GET", f"{path}/{{id}}", self._get),
            Route("DELETE", f"{path}/{{id}}", self._close),
            Route("GET", f"{path}/{{id}}/messages", self._messages),
            Route("GET", f"{path}/{{id}}/messages/{{seq}}/context", self._context),
        )

    def _open(self, call: Call) -> Response:
        _organisation(call)
        body = read_body(call.request, DiagnosisRequest, ErrorCode.DIAGNOSIS_INVALID)
        diagnosis = self.service.open(_of(call, body.owner), body.conversation_id, body.reason, body.minutes)
        return _sent(diagnosis_body(diagnosis), HTTPStatus.CREATED)

    def _newest(self, call: Call) -> Response:
        diagnoses = self.service.newest(_organisation(call))
        return _sent(DiagnosisList(items=list(map(diagnosis_body, diagnoses))))

    def _get(self, call: Call) -> Response:
        scope, diagnosis = self._found(call)
        return _sent(diagnosis_body(diagnosis, self.service.looks(scope, diagnosis)))

    def _close(self, call: Call) -> Response:
        scope, diagnosis = self._found(call)
        self.service.close(scope, diagnosis)
        return Response("done", HTTPStatus.NO_CONTENT)

    def _messages(self, call: Call) -> Response:
        _, diagnosis = self._found(call)
        scope = _of(call, diagnosis.owner)
        query = read_query(call.request, DiagnosisQuery, cursor=ErrorCode.CURSOR_INVALID)
        listing = ("diagnosis", diagnosis.id)
        after = self.cursors.read(scope, listing, query.cursor)
        view = self.service.messages(scope, diagnosis, after=None if after is None else int(after), limit=query.limit)
        return _sent(masked_messages(view, self.cursors.write(scope, listing, view.messages.next_key)))

    def _context(self, call: Call) -> Response:
        _, diagnosis = self._found(call)
        seq = _number(call.params["seq"])
        context = self.service.context(_of(call, diagnosis.owner), diagnosis, seq)
        return _sent(DiagnosedContext.model_validate(context))

    def _found(self, call: Call) -> tuple[Scope, Diagnosis]:
        scope = _organisation(call)
        return scope, self.service.get(scope, call.params["id"])


def _organisation(call: Call) -> Scope:
    """Authorise for the organisation as a whole: its records, and the right to make one."""
    return call.decide(call.require_caller(), Action.DIAGNOSE, Resource(call.require_caller().org))


def _of(call: Call, owner: str) -> Scope:
    """Authorise for the data of one owner in the admin's own organisation."""
    return call.decide(call.require_caller(), Action.DIAGNOSE, Resource(call.require_caller().org, owner))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise FencepostError(ErrorCode.NOT_FOUND)
    return int(text)


def _sent(content: Sent, status: HTTPStatus = HTTPStatus.OK) -> Response:
    return json_response("done", status, content.wire())
