"""`GET /health` and `GET /openapi.json`: no store, no secret, no event."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

import fencepost
from fencepost.http.errors import error_response
from fencepost.http.proxy import ProxyResponse, Request, Response, json_response, parse_event, proxy_response
from fencepost.kernel.errors import ErrorCode, FencepostError


def handler(event: Mapping[str, Any], _context: object) -> ProxyResponse:
    """Answer one proxy event."""
    request = parse_event(event)
    return proxy_response(request, _respond(request), {})


def _respond(request: Request) -> Response:
    match request.resource:
        case "/health":
            return _health()
        case "/openapi.json":
            return _openapi()
        case _:
            return error_response(FencepostError(ErrorCode.NOT_FOUND), request.id)


def _health() -> Response:
    """Say that functions run, and which version: a check that runs every few seconds must cost nothing."""
    return json_response("answered", HTTPStatus.OK, {"status": "ok", "version": fencepost.__version__})


@cache
def _openapi() -> Response:
    # Here, and not above: building the models of all routes takes long, and health needs none of them.
    from fencepost.web.openapi import openapi_document

    return json_response("answered", HTTPStatus.OK, openapi_document())
