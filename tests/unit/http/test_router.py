"""The table of routes."""

from __future__ import annotations

import pytest

from fencepost.http.body import Body, Query
from fencepost.http.errors import MethodNotAllowed
from fencepost.http.proxy import Response, parse_event
from fencepost.http.routing import Call, Route, RouteGroup, Router
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.service import Trace


def respond(_: Call) -> Response:
    return Response("done")


ROUTES = [
    Route("GET", "/v1/things/{id}", respond),
    Route("PUT", "/v1/things/{id}", respond),
    Route("GET", "/v1/things/latest", respond),
    Route("GET", "/v1/things/{id}/parts/{part}", respond),
]
ROUTER = Router(ROUTES)


@pytest.mark.parametrize(
    ("path", "route", "params"),
    [
        ("/v1/things/a", ROUTES[0], {"id": "a"}),
        ("/v1/things/latest", ROUTES[2], {}),
        ("/v1/things/a.b~c", ROUTES[0], {"id": "a.b~c"}),
        ("/v1/things/a%2Fb%20c%C3%A9", ROUTES[0], {"id": "a/b cé"}),
        ("/v1/things/a%2520b", ROUTES[0], {"id": "a%20b"}),
        ("/v1/things/a/parts/b", ROUTES[3], {"id": "a", "part": "b"}),
    ],
)
def test_a_path_leads_to_its_route(path: str, route: Route, params: dict[str, str]) -> None:
    assert ROUTER.find("GET", path) == (route, params)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/v1",
        "/v1/things",
        "/v1/things/",
        "/v1/things/a/",
        "/v1//things/a",
        "/v1/things/a/parts",
        "v1/things/a",
    ],
)
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "BREW"])
def test_other_paths_lead_nowhere(method: str, path: str) -> None:
    with pytest.raises(FencepostError, match="not_found"):
        ROUTER.find(method, path)


@pytest.mark.parametrize("method", ["POST", "HEAD", "", "get"])
def test_other_methods_are_told_which_there_are(method: str) -> None:
    with pytest.raises(MethodNotAllowed) as refused:
        ROUTER.find(method, "/v1/things/a")
    assert refused.value.allow == "GET, PUT, OPTIONS"


def test_a_preflight_knows_the_path_and_needs_no_route() -> None:
    assert ROUTER.find("OPTIONS", "/v1/things/a") == (None, {"id": "a"})


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (
            {"resource": "/v1/{proxy+}", "pathParameters": {"proxy": "a/b%20c"}, "path": "/base/v1/a/b%20c"},
            "/v1/a/b%20c",
        ),
        ({"resource": "/v1/{proxy+}", "pathParameters": {"proxy": "a/b c"}, "path": "/v1/a/b%20c"}, "/v1/a/b%20c"),
        ({"resource": "/v1/chat", "pathParameters": None, "path": "/base/v1/chat"}, "/v1/chat"),
        ({"resource": "/v1/{proxy+}"}, "/v1/"),
        ({}, ""),
    ],
)
def test_a_path_is_free_of_what_a_domain_puts_before_it(event: dict[str, object], path: str) -> None:
    assert parse_event(event).path == path


class Numbers(RouteGroup):
    def __init__(self, number: int) -> None:
        self.number = number

    def _read(self, call: Call) -> Response:
        return Response("done", body=f"{self.number} {call.params['id']}")

    table = (Route("GET", "/v1/numbers/{id}", _read, "readNumber", leaving=True),)


def test_a_groups_handlers_are_bound_to_its_instance_and_its_table_is_not() -> None:
    one, two = (group.routes()[0] for group in (Numbers(1), Numbers(2)))
    call = Call(parse_event({}), Trace(), {"id": "a"})
    assert (one.handle(call).body, two.handle(call).body) == ("1 a", "2 a")
    assert one._replace(handle=two.handle) == two
    assert Numbers.table[0].handle is Numbers._read


@pytest.mark.parametrize(
    ("route", "added", "absent"),
    [
        (Route("GET", "/a", respond), {"token_missing", "not_found"}, {"invalid_json", "query_invalid"}),
        (Route("GET", "/a", respond, public=True), {"rate_limited_day"}, {"token_missing", "not_found"}),
        (Route("PUT", "/a", respond, request=Body), {"invalid_json", "token_missing"}, {"query_invalid"}),
        (Route("GET", "/a", respond, query=Query), {"query_invalid"}, {"invalid_json", "idempotency_key_invalid"}),
        (Route("POST", "/a", respond, idempotent=True), {"idempotency_key_invalid"}, {"invalid_json"}),
        (Route("GET", "/a", respond, errors=(ErrorCode.ANSWER_MISSING,)), {"answer_missing"}, set()),
    ],
)
def test_a_route_may_answer_with_the_errors_of_all_it_takes(route: Route, added: set[str], absent: set[str]) -> None:
    assert added <= route.possible_errors
    assert not absent & route.possible_errors
