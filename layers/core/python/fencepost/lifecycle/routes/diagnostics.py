"""`/v1/admin/diagnostics…`: an admin opens a diagnosis of one conversation and reads its masked messages."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fencepost.http.body import read_body, read_query
from fencepost.http.cursors import Cursors
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, created, ok
from fencepost.http.schemas import done
from fencepost.identity.domain.scope import Action, Resource, Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.domain.diagnosis import Diagnosis
from fencepost.lifecycle.schemas.diagnostics import (
    DiagnosedContext,
    DiagnosisBody,
    DiagnosisList,
    DiagnosisQuery,
    DiagnosisRequest,
    MaskedMessages,
    diagnosis_body,
    masked_messages,
)
from fencepost.lifecycle.service.diagnostics import DiagnosticsService

_MAX_DIGITS = 12
_PATH = "/v1/admin/diagnostics"


@dataclass(frozen=True, slots=True)
class DiagnosticsRoutes(RouteGroup):
    """Each handler first authorises the caller as an admin of the organisation."""

    service: DiagnosticsService
    cursors: Cursors

    def _open(self, call: Call) -> Response:
        _admin_scope(call)
        body = read_body(call.request, DiagnosisRequest, ErrorCode.DIAGNOSIS_INVALID)
        diagnosis = self.service.open(_owner_scope(call, body.owner), body.conversation_id, body.reason, body.minutes)
        return done(diagnosis_body(diagnosis), HTTPStatus.CREATED)

    def _list(self, call: Call) -> Response:
        diagnoses = self.service.newest(_admin_scope(call))
        return done(DiagnosisList(items=list(map(diagnosis_body, diagnoses))))

    def _get(self, call: Call) -> Response:
        scope, diagnosis = self._diagnosis(call)
        return done(diagnosis_body(diagnosis, self.service.looks(scope, diagnosis)))

    def _close(self, call: Call) -> Response:
        scope, diagnosis = self._diagnosis(call)
        self.service.close(scope, diagnosis)
        return Response("done", HTTPStatus.NO_CONTENT)

    def _messages(self, call: Call) -> Response:
        _, diagnosis = self._diagnosis(call)
        scope = _owner_scope(call, diagnosis.owner)
        query = read_query(call.request, DiagnosisQuery, cursor=ErrorCode.CURSOR_INVALID)
        listing = ("diagnosis", diagnosis.id)
        after = self.cursors.read(scope, listing, query.cursor)
        view = self.service.messages(scope, diagnosis, after=None if after is None else int(after), limit=query.limit)
        return done(masked_messages(view, self.cursors.write(scope, listing, view.messages.next_key)))

    def _context(self, call: Call) -> Response:
        _, diagnosis = self._diagnosis(call)
        seq = _number(call.params["seq"])
        context = self.service.context(_owner_scope(call, diagnosis.owner), diagnosis, seq)
        return done(DiagnosedContext.model_validate(context))

    def _diagnosis(self, call: Call) -> tuple[Scope, Diagnosis]:
        scope = _admin_scope(call)
        return scope, self.service.get(scope, call.params["id"])

    table = (
        Route(
            "POST",
            _PATH,
            _open,
            "openDiagnosis",
            "Open a diagnosis of one conversation, with a reason and for a limited time.",
            created(DiagnosisBody),
            DiagnosisRequest,
            errors=(ErrorCode.DIAGNOSIS_INVALID,),
        ),
        Route("GET", _PATH, _list, "listDiagnoses", "List the newest diagnoses.", ok(DiagnosisList)),
        Route("GET", f"{_PATH}/{{id}}", _get, "readDiagnosis", "Read a diagnosis' record.", ok(DiagnosisBody)),
        Route(
            "DELETE",
            f"{_PATH}/{{id}}",
            _close,
            "closeDiagnosis",
            "End a diagnosis.",
            {HTTPStatus.NO_CONTENT: None},
        ),
        Route(
            "GET",
            f"{_PATH}/{{id}}/messages",
            _messages,
            "diagnoseMessages",
            "Read the conversation's messages, without personal data.",
            ok(MaskedMessages),
            query=DiagnosisQuery,
            errors=(ErrorCode.CURSOR_INVALID, ErrorCode.DIAGNOSIS_ENDED),
        ),
        Route(
            "GET",
            f"{_PATH}/{{id}}/messages/{{seq}}/context",
            _context,
            "diagnoseContext",
            "Read the prompt context of an answer, with pseudonyms.",
            ok(DiagnosedContext),
            errors=(ErrorCode.ANSWER_MISSING, ErrorCode.DIAGNOSIS_ENDED),
        ),
    )


def _admin_scope(call: Call) -> Scope:
    """Authorise for the organisation: to read its diagnoses' records and to open one."""
    return call.decide(call.require_caller(), Action.DIAGNOSE, Resource(call.require_caller().org))


def _owner_scope(call: Call, owner: str) -> Scope:
    """Authorise for the data of one owner in the admin's organisation."""
    return call.decide(call.require_caller(), Action.DIAGNOSE, Resource(call.require_caller().org, owner))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise FencepostError(ErrorCode.NOT_FOUND)
    return int(text)
