"""The gateway as a WSGI application: requests become proxy events, for tools that speak HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from fencepost.edge.endpoint import Handler
from tests.chat_world import proxy_event

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def gateway(routes: Mapping[str, Handler]) -> WSGIApplication:
    """Return an application that passes each resource's requests to its handler, whatever their method."""

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        resource = environ["PATH_INFO"]
        event = proxy_event(
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)),
            method=environ["REQUEST_METHOD"],
            headers=_headers(environ),
            resource=resource,
        )
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
    return {name: value for name, value in headers.items() if value}
