"""The OpenAPI document, and the API held against it by schemathesis."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
import schemathesis
from hypothesis import settings
from schemathesis.checks import CheckFunction
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    ignored_auth,
    positive_data_acceptance,
    unsupported_method,
)

from fencepost import __version__
from fencepost.bootstrap.api import api_routes
from fencepost.bootstrap.wiring.web import ingress
from fencepost.http.errors import ERRORS
from fencepost.http.routing import Route
from fencepost.settings import load_settings
from fencepost.web.api import Api
from fencepost.web.meta import handler as meta
from fencepost.web.openapi import openapi_document
from fencepost.web.routes import ROUTES
from tests.doubles.wsgi import gateway
from tests.fakes.answers import FakeKeys
from tests.worlds.chat import FakeEvents, World, proxy_event
from tests.worlds.thoroughness import examples
from tests.worlds.whole_api import whole_api

api = whole_api()
app = gateway({"/api/ai-chat": World().endpoint, "/v1/{proxy+}": api.endpoint, "/health": meta, "/openapi.json": meta})
# A body that violates a bound may violate that of the whole request first, and an id that is none is not found.
CONFIG: dict[str, Any] = {
    "checks": {"negative_data_rejection": {"expected-statuses": ["400", "401", "404", "409", "413", "415"]}},
    # Tokens are sent along with every case; what is answered without one is tested by itself.
    "generation": {"with-security-parameters": False},
}
RANDOM_ALONE = {**CONFIG, "phases": {"coverage": {"enabled": False}}}


def described(config: dict[str, Any]) -> BaseSchema:
    """Return the API as its document describes it."""
    return schemathesis.openapi.from_wsgi("/openapi.json", app, config=schemathesis.Config.from_dict(config))


NOT_OURS: list[CheckFunction] = [
    # The gateway answers for methods that no function is behind; our own answers are tested row by row.
    unsupported_method,
    # A schema cannot say that a history is unbalanced, that a question is none, or that there is no such conversation.
    positive_data_acceptance,
    ignored_auth,
]
EXISTING = {"id": "c1", "mid": "c1-3", "user": "u2", "seq": "2"}
CHAT = described(CONFIG).exclude(path_regex="^/v1/")
V1, V1_AT_RANDOM = (described(config).include(path_regex="^/v1/") for config in (CONFIG, RANDOM_ALONE))


@CHAT.parametrize()
@settings(max_examples=examples(100), deadline=None)
def test_the_chat_does_what_its_document_says(case: schemathesis.Case[Any]) -> None:
    case.call_and_validate(excluded_checks=NOT_OURS)


@V1.parametrize()
@settings(max_examples=10, deadline=None)
def test_the_api_does_what_its_document_says(case: schemathesis.Case[Any]) -> None:
    case.call_and_validate(headers=api.member("root", default="acme"), excluded_checks=NOT_OURS)


@V1_AT_RANDOM.parametrize()
@settings(max_examples=10, deadline=None)
def test_the_api_does_so_for_what_there_is(case: schemathesis.Case[Any]) -> None:
    case.path_parameters = {name: EXISTING[name] for name in case.path_parameters or {}}
    case.call_and_validate(headers=api.visitor(), excluded_checks=NOT_OURS)


@pytest.mark.parametrize("route", [row for row in ROUTES if not row.public], ids=lambda row: row.operation_id)
@pytest.mark.parametrize("token", [None, "x.y.z", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1MSJ9."])
def test_without_a_token_no_route_answers(route: Route, token: str | None) -> None:
    address = re.sub(r"\{(\w+)\}", lambda place: EXISTING[place[1]], route.path)
    headers = {"content-type": "application/json"} if token is None else {"authorization": f"Bearer {token}"}
    reply = api.send(route.method, address, headers=headers)
    assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")


def test_the_document_is_served() -> None:
    answer = meta(proxy_event(method="GET", resource="/openapi.json"), None)
    document = json.loads(answer["body"])
    assert (answer["statusCode"], document) == (200, json.loads(json.dumps(openapi_document())))
    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", __version__)


def documented(*without: str) -> set[tuple[str, str, bool]]:
    """Return what the table says of the routes under `/v1`."""
    rows = (row for row in ROUTES if row.path.startswith("/v1/") and row.path not in without)
    return {(row.method, row.path, row.public) for row in rows}


def served(routes: Iterable[Route]) -> set[tuple[str, str, bool]]:
    return {(route.method, route.path, route.public) for route in routes}


def test_every_route_is_documented_and_no_other() -> None:
    assert isinstance(api.endpoint.route, Api)
    assert served(api.endpoint.route.router.routes) == documented()


def test_the_function_serves_all_of_them_but_the_chats() -> None:
    settings, log = load_settings({}), FakeEvents()
    assert served(api_routes(settings, ingress(settings, FakeKeys(), log), log)) == documented("/v1/chat")


def test_operations_have_names_of_their_own() -> None:
    assert [name for name, times in Counter(row.operation_id for row in ROUTES).items() if times > 1] == []


DOCUMENT = openapi_document()


def resolved(response: dict[str, Any]) -> Any:
    """Follow a reference to a shared response."""
    name = response.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["responses"][name] if name else response


def documented_codes() -> dict[str, set[int]]:
    """Return, for each code, the statuses under which the document names it."""
    found: dict[str, set[int]] = {}
    for path in DOCUMENT["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    schema = resolved(response)["content"]["application/json"]["schema"]
                    for code in schema["properties"]["code"]["enum"]:
                        found.setdefault(code, set()).add(int(status))
    return found


def test_every_code_is_documented_under_its_status() -> None:
    # What a route does not take is no operation of it, and what became of a document is told in its own `error`.
    elsewhere = {
        "method_not_allowed",
        "document_unreadable",
        "embedder_unavailable",
        "index_unavailable",
        "source_empty",
        "source_unreachable",
    }
    expected = {code.value: {int(row.status)} for code, row in ERRORS.items() if code not in elsewhere}
    assert documented_codes() == expected


@pytest.mark.parametrize("status", ["429", "503"])
def test_waits_are_documented(status: str) -> None:
    responses = DOCUMENT["paths"]["/api/ai-chat"]["post"]["responses"]
    assert resolved(responses[status])["headers"]["Retry-After"]["required"]


def test_every_route_but_the_public_ones_asks_for_a_token() -> None:
    paths = DOCUMENT["paths"]
    public = {(path, method) for path, row in paths.items() for method in row if "security" not in row[method]}
    assert public == {
        ("/api/ai-chat", "post"),
        ("/v1/visitors", "post"),
        ("/health", "get"),
        ("/openapi.json", "get"),
    }
