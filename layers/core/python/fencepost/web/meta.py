"""The meta function: `GET /health` and `GET /openapi.json`. It uses no store, reads no secret and emits no event."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from typing import Any

import fencepost
from fencepost.http.errors import error_response
from fencepost.http.proxy import ProxyResponse, Response, json_response, parse_event, proxy_response
from fencepost.kernel.errors import ErrorCode, FencepostError


def handler(event: Mapping[str, Any], _context: object) -> ProxyResponse:
    """Answer one proxy event."""
    request = parse_event(event)
    match request.resource:
        case "/health":
            response = json_response("answered", HTTPStatus.OK, {"status": "ok", "version": fencepost.__version__})
        case "/openapi.json":
            response = _openapi()
        case _:
            response = error_response(FencepostError(ErrorCode.NOT_FOUND), request.id)
    return proxy_response(request, response, {})


@cache
def _openapi() -> Response:
    # Imported here: the models of all routes take long to build, and frequent health checks need none of them.
    from fencepost.web.openapi import openapi_document

    return json_response("answered", HTTPStatus.OK, openapi_document())
