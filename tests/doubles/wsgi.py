"""The gateway as a WSGI application: requests become proxy events, for tools that speak HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote

from fencepost.http.endpoint import Handler
from tests.worlds.chat import proxy_event

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_GREEDY = "/v1/{proxy+}"


def gateway(routes: Mapping[str, Handler]) -> WSGIApplication:
    """Return an application that passes each resource's requests to its handler, whatever their method.

    Args:
        routes: by the resource; that of `/v1/{proxy+}` gets what no other one takes.
    """

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # WSGI hands over a decoded path, byte by byte in Latin-1; the gateway's is still encoded.
        path = quote(environ["PATH_INFO"].encode("latin-1"))
        resource = path if path in routes else _GREEDY
        event = proxy_event(
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)),
            method=environ["REQUEST_METHOD"],
            headers=_headers(environ),
            resource=resource,
        )
        event["path"] = path
        event["pathParameters"] = {"proxy": path.removeprefix("/v1/")} if resource == _GREEDY else None
        event["queryStringParameters"] = dict(parse_qsl(environ["QUERY_STRING"], keep_blank_values=True)) or None
        answer = routes[resource](event, None)
        status = HTTPStatus(answer["statusCode"])
        start_response(f"{status.value} {status.phrase}", list(answer["headers"].items()))
        return [answer["body"].encode()]

    return application


def _headers(environ: WSGIEnvironment) -> dict[str, str]:
    headers = {
        name.removeprefix("HTTP_").replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("HTTP_") or name == "CONTENT_TYPE"
    }
    # WSGI names a content type where none was sent; any other header may be empty.
    return {name: value for name, value in headers.items() if value or name != "CONTENT_TYPE"}
