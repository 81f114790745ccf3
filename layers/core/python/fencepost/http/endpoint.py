"""The Lambda handler of every HTTP function: parses the event, maps errors, reports and audits the outcome.

The only broad `except` clauses are here: on any failure the client gets a well-formed response with our headers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from fencepost.http.cors import CorsPolicy
from fencepost.http.errors import error_response
from fencepost.http.proxy import ProxyResponse, Request, Response, parse_event, proxy_response
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.observability.domain.events import AuditRecord
from fencepost.observability.ports import AuditTrail, RequestLog
from fencepost.observability.service import Trace

type EndpointRoute = Callable[[Request, Trace], Response]
type Handler = Callable[[Mapping[str, Any], object], ProxyResponse]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A Lambda handler around one route.

    Attributes:
        audit: None in the demo, which counts and audits nothing.
    """

    route: EndpointRoute
    cors: CorsPolicy
    log: RequestLog
    audit: AuditTrail | None
    clock: Clock

    def __call__(self, event: Mapping[str, Any], _context: object) -> ProxyResponse:
        """Answer one proxy event."""
        request, trace = parse_event(event), Trace()
        self.log.begin(request.id)
        response = self._respond(request, trace)
        self._report(response, trace)
        return proxy_response(request, response, self.cors.headers(request, response.outcome))

    def _respond(self, request: Request, trace: Trace) -> Response:
        try:
            return self.route(request, trace)
        except FencepostError as error:
            return error_response(error, request.id)
        except Exception as error:  # noqa: BLE001 - the edge: nothing may pass it
            self.log.log_unexpected(error)
            return error_response(FencepostError(ErrorCode.INTERNAL_ERROR), request.id)

    def _report(self, response: Response, trace: Trace) -> None:
        # Requests over the address limits are not audited, or a flood would write an item for each of them.
        if self.audit is not None and trace.counted and not trace.recorded:
            self._try(partial(self._audit, self.audit, response))
        self._try(lambda: self.log.emit(trace.event(response.outcome, response.status)))

    def _audit(self, audit: AuditTrail, response: Response) -> None:
        now, outcome = self.clock(), response.outcome
        if isinstance(outcome, ErrorCode):
            failed = response.status >= HTTPStatus.INTERNAL_SERVER_ERROR
            audit.record(AuditRecord(time=now, outcome="failed" if failed else "refused", reason=outcome))
        else:
            audit.record(AuditRecord(time=now, outcome=outcome))

    def _try(self, report: Callable[[], None]) -> None:
        """Run a report and log its failure: the answer is paid for, and must reach the visitor all the same."""
        try:
            report()
        except Exception as error:  # noqa: BLE001 - the edge: nothing may pass it
            with suppress(Exception):
                self.log.log_unexpected(error)


@dataclass(frozen=True, slots=True)
class ByResource:
    """Several handlers in one function, by the gateway's path template. The first one serves all other templates."""

    handlers: Mapping[str, Handler]

    def __call__(self, event: Mapping[str, Any], context: object) -> ProxyResponse:
        """Answer one proxy event."""
        first = next(iter(self.handlers.values()))
        return self.handlers.get(event.get("resource") or "", first)(event, context)
