"""`POST /v1/visitors`: new tokens, and renewal for the same visitor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from fencepost.access.tokens.visitor_tokens import RENEWABLE
from fencepost.identity.domain.scope import Visitor
from fencepost.limits.domain.requests import Counter, RateLimits
from tests.worlds.api import PAGE, ApiWorld
from tests.worlds.chat import JSON_TYPE, Reply

LIST = "/v1/conversations"


def visit(world: ApiWorld, body: object = None, **headers: str) -> Reply:
    content = {"site": "acme-docs"} if body is None else body
    return world.send("POST", "/v1/visitors", json.dumps(content), headers={**JSON_TYPE, **headers})


def bearer(reply: Reply) -> Mapping[str, str]:
    return {"authorization": f"Bearer {reply.json['token']}"}


def test_a_token_opens_the_api_for_somebody_new() -> None:
    world = ApiWorld()
    first, second = visit(world, origin=PAGE), visit(world)
    assert first.status == 200
    assert set(first.json) == {"token", "visitorId", "expiresAt"}
    assert first.json["visitorId"] != second.json["visitorId"]
    assert datetime.fromisoformat(first.json["expiresAt"]) == world.clock().replace(microsecond=0) + timedelta(hours=1)
    assert first.json["expiresAt"].endswith("Z")
    assert world.send("GET", LIST, headers={**bearer(first), "origin": PAGE}).status == 200


def test_nothing_is_stored_for_a_visitor() -> None:
    world = ApiWorld()
    visit(world)
    assert set(world.directory.reads) <= {"site_by_key", "site"}
    assert not any(vars(world.store.shelf).values())


def test_the_old_token_keeps_the_visitor_and_their_conversations() -> None:
    world = ApiWorld()
    first = visit(world)
    world.converse(world.scope(first.json["visitorId"]), "c1")
    world.clock.advance(3_600)
    assert world.send("GET", LIST, headers=bearer(first)).code == "token_expired"
    renewed = visit(world, **bearer(first))
    assert renewed.json["visitorId"] == first.json["visitorId"]
    assert [row["id"] for row in world.send("GET", LIST, headers=bearer(renewed)).json["items"]] == ["c1"]


def test_a_token_can_be_renewed_before_it_ends() -> None:
    world = ApiWorld()
    first = visit(world)
    world.clock.advance(60)
    renewed = visit(world, **bearer(first))
    assert renewed.json["visitorId"] == first.json["visitorId"]
    assert renewed.json["expiresAt"] > first.json["expiresAt"]


def test_a_rotation_of_the_secret_logs_no_visitor_out() -> None:
    world = ApiWorld()
    first = visit(world)
    world.keys.rotate(b"the second secret")
    assert world.send("GET", LIST, headers=bearer(first)).status == 200
    renewed = visit(world, **bearer(first))
    world.keys.rotate(b"the third secret")
    assert world.send("GET", LIST, headers=bearer(renewed)).status == 200
    assert visit(world, **bearer(renewed)).json["visitorId"] == first.json["visitorId"]


def test_a_token_that_ended_long_ago_is_not_renewed() -> None:
    world = ApiWorld()
    first = visit(world)
    world.clock.advance((RENEWABLE + timedelta(hours=1)).total_seconds())
    reply = visit(world, **bearer(first))
    assert (reply.status, reply.code, reply.headers["www-authenticate"]) == (401, "token_expired", "Bearer")


@pytest.mark.parametrize("site", ["zeta-docs", "acme-shop"])
def test_a_token_of_another_site_is_not_renewed(site: str) -> None:
    world = ApiWorld()
    world.directory.add_site("acme", "shop")
    reply = visit(world, {"site": site}, **bearer(visit(world)))
    assert (reply.status, reply.code) == (401, "token_invalid")


@pytest.mark.parametrize("token", ["Bearer a.b.c", "Bearer", "Bearer ..."])
def test_a_bad_token_is_not_renewed(token: str) -> None:
    reply = visit(ApiWorld(), authorization=token)
    assert (reply.status, reply.code) == (401, "token_invalid")


def test_a_members_token_is_no_visitors() -> None:
    reply = visit(ApiWorld(), **ApiWorld().member())
    assert (reply.status, reply.code) == (401, "token_invalid")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "site_missing"),
        ({"site": 7}, "site_missing"),
        ({"site": ""}, "site_missing"),
        ({"site": "k" * 129}, "site_missing"),
        ({"site": None}, "site_missing"),
        ([], "not_an_object"),
    ],
)
def test_a_request_that_names_no_site_is_told_so(body: object, code: str) -> None:
    reply = visit(ApiWorld(), body)
    assert (reply.status, reply.code) == (400, code)


@pytest.mark.parametrize("key", ["none", "é", "acme-docs ", "../acme", "\u0000", "a#b"])
def test_an_unknown_key_is_told_so(key: str) -> None:
    reply = visit(ApiWorld(), {"site": key})
    assert (reply.status, reply.code) == (404, "site_unknown")


def test_a_closed_site_takes_nobody() -> None:
    world = ApiWorld()
    world.directory.add_site("acme", "docs", active=False)
    assert visit(world).code == "site_unknown"


def test_whom_a_closed_site_knew_it_lets_go() -> None:
    world = ApiWorld()
    first = visit(world)
    world.directory.sites["acme", "docs"] = replace(world.directory.sites["acme", "docs"], active=False)
    world.clock.advance(3_600)
    renewed = visit(world, origin=PAGE, **bearer(first))
    assert renewed.json["visitorId"] == first.json["visitorId"]
    assert world.send("GET", LIST, headers=bearer(renewed)).code == "token_invalid"
    assert visit(world, {"site": "acme-shop"}, **bearer(first)).code == "site_unknown"


def test_a_page_of_another_site_gets_no_token() -> None:
    reply = visit(ApiWorld(), origin="https://zeta.example")
    assert (reply.status, reply.code) == (403, "origin_not_allowed")


def test_visitors_are_limited_by_their_address() -> None:
    world = ApiWorld(other_limits=RateLimits(2, 100, Counter.OTHER))
    assert [visit(world).status for _ in range(3)] == [200, 200, 429]


def test_a_visitors_id_cannot_be_chosen() -> None:
    world = ApiWorld()
    reply = visit(world, {"site": "acme-docs", "visitorId": "victim"})
    assert reply.json["visitorId"] != "victim"
    read = world.visitor_tokens.read(reply.json["token"], world.clock())
    assert read == Visitor("acme", "docs", reply.json["visitorId"])
    assert len(read.visitor_id) == 32
