"""The checks that all routes of `/v1` share, and their order."""

from __future__ import annotations

import json

import pytest

from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route
from fencepost.identity.domain.scope import Visitor
from fencepost.limits.domain.requests import Counter, RateLimits
from fencepost.observability.domain.events import AuthorizationEvent, RequestEvent
from tests.worlds.api import ANN, DEPLOYMENT, PAGE, ApiWorld
from tests.worlds.chat import API, JSON_TYPE, Reply

LIST = "/v1/conversations"
CORS = "access-control-allow-origin"
FOREIGN = "https://evil.example"


def visit(world: ApiWorld, origin: str | None, site: str = "acme-docs") -> Reply:
    headers = JSON_TYPE if origin is None else {**JSON_TYPE, "origin": origin}
    return world.send("POST", "/v1/visitors", json.dumps({"site": site}), headers=headers)


@pytest.mark.parametrize("address", ["/v1/", "/v1/nothing", "/v1/conversations/", "/v1/conversations//messages"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_an_unknown_path_is_nothing_and_counts_nothing(method: str, address: str) -> None:
    world = ApiWorld()
    reply = world.send(method, address, headers=world.visitor())
    assert (reply.status, reply.code, world.counted) == (404, "not_found", 0)


@pytest.mark.parametrize(
    ("method", "address", "allow"),
    [
        ("DELETE", LIST, "GET, OPTIONS"),
        ("PUT", f"{LIST}/c1", "GET, PATCH, OPTIONS"),
        ("GET", "/v1/visitors", "POST, OPTIONS"),
        ("GET", "/v1/messages/m1/feedback", "POST, OPTIONS"),
        ("HEAD", LIST, "GET, OPTIONS"),
    ],
)
def test_an_unknown_method_is_told_which_there_are(method: str, address: str, allow: str) -> None:
    world = ApiWorld()
    reply = world.send(method, address)
    assert (reply.status, reply.headers["allow"], world.counted) == (405, allow, 0)


@pytest.mark.parametrize("origin", [DEPLOYMENT, PAGE, FOREIGN])
def test_any_page_may_ask_what_is_allowed(origin: str) -> None:
    world = ApiWorld()
    reply = world.send("OPTIONS", LIST, headers={"origin": origin, "access-control-request-method": "GET"})
    assert (reply.status, reply.text, reply.headers[CORS], reply.headers["vary"]) == (204, "", origin, "Origin")
    assert set(reply.headers["access-control-allow-methods"].split(", ")) >= {"GET", "POST", "PUT", "PATCH", "DELETE"}
    assert {"authorization", "content-type", "idempotency-key", "x-org-id"} <= set(
        reply.headers["access-control-allow-headers"].lower().split(", ")
    )
    assert (world.counted, world.directory.reads) == (0, [])


@pytest.mark.parametrize("origin", ["null", "", "*", "file://", "https://a.example/path", "https://a.example, b"])
def test_what_is_no_origin_is_refused_uncounted(origin: str) -> None:
    world = ApiWorld()
    reply = world.send("GET", LIST, headers={**world.visitor(), "origin": origin})
    assert (reply.status, reply.code, world.counted) == (403, "origin_not_allowed", 0)
    assert CORS not in reply.headers
    assert CORS not in world.send("OPTIONS", LIST, headers={"origin": origin}).headers


@pytest.mark.parametrize("origin", [None, DEPLOYMENT, PAGE, f"https://{API}"])
@pytest.mark.parametrize("who", ["visitor", "member"])
def test_pages_of_the_deployment_and_of_the_site_are_served(who: str, origin: str | None) -> None:
    world = ApiWorld()
    headers = world.visitor() if who == "visitor" else world.member()
    reply = world.send("GET", LIST, headers=headers if origin is None else {**headers, "origin": origin})
    assert (reply.status, reply.headers.get(CORS)) == (200, origin)


@pytest.mark.parametrize("origin", [FOREIGN, "https://zeta.example", "http://docs.example"])
@pytest.mark.parametrize("who", ["visitor", "member"])
def test_pages_of_others_are_not_and_cannot_read_why(who: str, origin: str) -> None:
    world = ApiWorld()
    headers = world.visitor() if who == "visitor" else world.member()
    reply = world.send("GET", LIST, headers={**headers, "origin": origin})
    assert (reply.status, reply.code) == (403, "origin_not_allowed")
    assert [name for name in reply.headers if name.startswith("access-control-")] == []


@pytest.mark.parametrize(
    ("who", "active", "status"),
    [("member", True, 200), ("member", False, 403), ("visitor", True, 403)],
)
def test_members_may_come_from_any_site_of_their_organisation_that_serves(who: str, active: bool, status: int) -> None:
    world = ApiWorld()
    shop = "https://shop.example"
    world.directory.add_site("acme", "shop", origins=(shop,), active=active)
    headers = world.visitor() if who == "visitor" else world.member()
    reply = world.send("GET", LIST, headers={**headers, "origin": shop})
    assert (reply.status, reply.headers.get(CORS)) == (status, shop if status == 200 else None)
    # Of another organisation it says nothing.
    elsewhere = world.send("GET", LIST, headers={**world.member(org="zeta"), "origin": shop})
    assert (elsewhere.status, elsewhere.code) == (403, "origin_not_allowed")


@pytest.mark.parametrize("origin", [PAGE, FOREIGN])
@pytest.mark.parametrize(("who", "reason"), [("stranger", "not_a_member"), ("u1", "suspended")])
def test_which_pages_are_served_tells_a_stranger_of_no_organisation(who: str, reason: str, origin: str) -> None:
    world = ApiWorld()
    world.directory.revoke("acme", "u1")
    there = world.send("GET", LIST, headers={**world.member(who), "origin": origin})
    absent = world.send("GET", LIST, headers={**world.member(who, "nowhere"), "origin": origin})
    assert (there.status, there.code) == (404, "not_found")
    assert (there.status, there.headers, there.text) == (absent.status, absent.headers, absent.text)
    assert world.directory.reads == ["membership", "membership"]
    reported = [(event.decision, event.reason, event.caller) for event in world.events.of(AuthorizationEvent)]
    assert reported == [("denied", reason, "member"), ("denied", "not_a_member", "member")]
    assert all(event.subject for event in world.events.of(AuthorizationEvent))


def test_a_page_learns_that_its_token_has_ended() -> None:
    world = ApiWorld()
    headers = {**world.visitor(), "origin": PAGE}
    world.clock.advance(3_600)
    reply = world.send("GET", LIST, headers=headers)
    assert (reply.status, reply.code, reply.headers[CORS]) == (401, "token_expired", PAGE)


@pytest.mark.parametrize(("origin", "status"), [(PAGE, 200), (DEPLOYMENT, 200), (FOREIGN, 403), (None, 200)])
def test_a_visitors_token_is_for_the_sites_pages(origin: str | None, status: int) -> None:
    reply = visit(ApiWorld(), origin)
    assert (reply.status, reply.headers.get(CORS)) == (status, origin if status == 200 else None)


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_is_json_or_nothing(media_type: str | None) -> None:
    world = ApiWorld()
    headers = world.visitor() if media_type is None else {**world.visitor(), "content-type": media_type}
    reply = world.send("PATCH", f"{LIST}/c1", '{"title": "A"}', headers=headers)
    assert (reply.status, reply.code, world.counted) == (415, "unsupported_media_type", 0)


def test_without_a_body_no_type_is_asked_for() -> None:
    world = ApiWorld()
    assert world.send("GET", LIST, headers={**world.visitor(), "content-type": "text/plain"}).status == 200
    assert world.send("PATCH", f"{LIST}/c1", headers=world.visitor()).code == "invalid_json"


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "token_missing"),
        ({"authorization": "Basic YTpi"}, "token_missing"),
        ({"authorization": "Bearer "}, "token_invalid"),
        ({"authorization": "Bearer x.y.z"}, "token_invalid"),
        ({"authorization": "Bearer " + "a" * 9_000}, "token_invalid"),
    ],
)
def test_without_a_token_nothing_is_told_and_it_counts(headers: dict[str, str], code: str) -> None:
    world = ApiWorld()
    world.converse(world.scope(), "c1")
    replies = [
        world.send("GET", LIST, headers=headers),
        world.send("GET", f"{LIST}/c1", headers=headers),
        world.send("GET", f"{LIST}/%00?limit=x", headers=headers),
        world.send("PATCH", f"{LIST}/c1", "{", headers={**headers, **JSON_TYPE}),
    ]
    assert [(reply.status, reply.code) for reply in replies] == [(401, code)] * 4
    assert {reply.headers["www-authenticate"] for reply in replies} == {"Bearer"}
    assert world.counted == 4


def test_limits_come_before_the_token_and_count_what_is_rejected() -> None:
    world = ApiWorld(other_limits=RateLimits(3, 100, Counter.OTHER))
    sent = [
        world.send("GET", LIST),
        world.send("GET", f"{LIST}?limit=x", headers=world.visitor()),
        world.send("PATCH", f"{LIST}/c1", "{", headers={**world.visitor(), **JSON_TYPE}),
        world.send("GET", LIST, headers=world.visitor()),
        world.send("GET", LIST),
    ]
    assert [reply.code for reply in sent[:3]] == ["token_missing", "query_invalid", "invalid_json"]
    assert [(reply.status, reply.code) for reply in sent[3:]] == [(429, "rate_limited_minute")] * 2
    assert all(reply.headers["retry-after"] for reply in sent[3:])


def test_what_calls_no_model_has_limits_of_its_own() -> None:
    asked = Route("POST", "/v1/asked", lambda _: Response("answered"), paid=True)
    world = ApiWorld(limits=RateLimits(1, 1), other_limits=RateLimits(2, 9, Counter.OTHER), more_routes=[asked])

    def ask() -> int:
        return world.send("POST", "/v1/asked", headers=world.visitor()).status

    def read() -> int:
        return world.send("GET", LIST, headers=world.visitor()).status

    assert [read(), ask(), ask(), visit(world, PAGE).status, read(), ask()] == [200, 200, 429, 200, 429, 429]


def test_limits_fail_closed() -> None:
    world = ApiWorld()
    world.limiter.available = False
    assert world.send("GET", LIST, headers=world.visitor()).code == "rate_limit_unavailable"


def test_the_membership_is_read_at_every_request() -> None:
    world = ApiWorld()
    assert world.ask("GET", LIST, world.member()).status == 200
    world.directory.revoke("acme", "u1")
    reply = world.ask("GET", LIST, world.member())
    assert (reply.status, reply.code) == (404, "not_found")
    assert world.ask("GET", LIST, world.member(org="zeta")).status == 200
    denied = [event for event in world.events.of(AuthorizationEvent) if event.decision == "denied"]
    assert [event.reason for event in denied] == ["suspended"]


def test_a_member_names_an_organisation_of_theirs() -> None:
    world = ApiWorld()
    without = {"authorization": world.member()["authorization"]}
    assert world.ask("GET", LIST, without).code == "organisation_missing"
    absent = world.ask("GET", LIST, world.member(org="nowhere"))
    foreign = world.ask("GET", LIST, world.member("stranger"))
    assert absent.status == 404
    assert (foreign.status, foreign.headers, foreign.text) == (404, absent.headers, absent.text)


def test_a_denied_caller_is_told_nothing_of_what_they_sent() -> None:
    world = ApiWorld()
    reply = world.ask("PATCH", f"{LIST}/c1", world.member("stranger"), {"title": 7})
    assert (reply.status, reply.code) == (404, "not_found")


def test_a_directory_that_does_not_answer_is_no_fault_of_the_client() -> None:
    world = ApiWorld()
    world.directory.faults.append("before")
    reply = world.send("GET", LIST, headers=world.member())
    assert (reply.status, reply.code) == (503, "conversations_unavailable")


def test_a_fault_of_ours_says_nothing() -> None:
    def fail(call: Call) -> Response:
        raise RuntimeError(call.params["id"])

    world = ApiWorld(more_routes=[Route("GET", "/v1/broken/{id}", fail)])
    reply = world.send("GET", "/v1/broken/kumquat", headers=world.visitor())
    assert (reply.status, reply.code) == (500, "internal_error")
    assert "kumquat" not in reply.text


def test_what_is_rejected_is_reported_by_its_route() -> None:
    world = ApiWorld()
    world.send("GET", f"{LIST}/kumquat")
    world.send("GET", "/v1/kumquat")
    first, second = world.events.of(RequestEvent)
    assert (first.outcome, first.route) == ("token_missing", "GET /v1/conversations/{id}")
    assert (second.outcome, second.route) == ("not_found", None)
    assert len(world.audit.records) == 1


def test_a_closed_site_ends_its_visitors_tokens() -> None:
    world = ApiWorld()
    token = world.visitor_tokens.issue(Visitor("acme", "gone", ANN), world.clock()).token
    reply = world.send("GET", LIST, headers={"authorization": f"Bearer {token}"})
    assert (reply.status, reply.code) == (401, "token_invalid")
