"""Lists of conversations and of messages: their order, their pages, searches and cursors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.worlds.api import ANN, BOB, ApiWorld

C1 = "/v1/conversations/c1"


@pytest.fixture
def world() -> ApiWorld:
    world = ApiWorld()
    world.converse(world.scope(), "c1", 3, title="Rain gauges")
    return world


def pages(world: ApiWorld, address: str, who: dict[str, str]) -> list[list[Any]]:
    """Follow a list to its end."""
    found, separator = [], "&" if "?" in address else "?"
    reply = world.ask("GET", address, who)
    found.append(reply.json["items"])
    while cursor := reply.json.get("nextCursor"):
        reply = world.ask("GET", f"{address}{separator}cursor={cursor}", who)
        assert reply.status == 200
        found.append(reply.json["items"])
    return found


@pytest.mark.parametrize(("order", "seqs"), [("asc", [1, 2, 3, 4, 5, 6]), ("desc", [6, 5, 4, 3, 2, 1])])
@pytest.mark.parametrize("limit", [1, 2, 4, 5, 6, 7])
def test_messages_are_paged_in_both_directions(world: ApiWorld, order: str, seqs: list[int], limit: int) -> None:
    found = pages(world, f"{C1}/messages?order={order}&limit={limit}", world.visitor())
    assert [item["seq"] for page in found for item in page] == seqs
    assert all(len(page) == limit for page in found[:-1])


def test_conversations_are_listed_from_the_last_changed() -> None:
    world = ApiWorld()
    for number in range(1, 6):
        world.converse(world.scope(), f"c{number}", title=f"Title {number}")
        world.clock.advance(1)
    world.ask("PATCH", "/v1/conversations/c2", world.visitor(), {"title": "Changed"})
    found = pages(world, "/v1/conversations?limit=2", world.visitor())
    assert [[item["id"] for item in page] for page in found] == [["c2", "c5"], ["c4", "c3"], ["c1"]]


def test_titles_are_searched_whatever_their_case() -> None:
    world = ApiWorld()
    for name, title in [("c1", "Größe der TONNE"), ("c2", "Rain"), ("c3", "tonnen")]:
        world.converse(world.scope(), name, title=title)
        world.clock.advance(1)
    found = world.ask("GET", "/v1/conversations?title=Tonne", world.visitor()).json["items"]
    assert [item["id"] for item in found] == ["c3", "c1"]
    assert world.ask("GET", "/v1/conversations?title=GR%C3%96SSE", world.visitor()).json["items"][0]["id"] == "c1"
    assert world.ask("GET", "/v1/conversations?title=snow", world.visitor()).json == {"items": []}


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=101", "limit=x", "limit=", "limit=1.0", "limit=%2B1", "limit=1_0", "limit=٣", "q=a", "limit=-1"],
)
@pytest.mark.parametrize("address", ["/v1/conversations", f"{C1}/messages"])
def test_other_parameters_are_refused(world: ApiWorld, address: str, query: str) -> None:
    reply = world.ask("GET", f"{address}?{query}", world.visitor())
    assert (reply.status, reply.code) == (400, "query_invalid")


def test_another_order_is_refused(world: ApiWorld) -> None:
    assert world.ask("GET", f"{C1}/messages?order=newest", world.visitor()).code == "query_invalid"


def cursor_of(world: ApiWorld, address: str, who: dict[str, str]) -> str:
    cursor: str = world.ask("GET", address, who).json["nextCursor"]
    return cursor


def test_a_cursor_is_of_no_use_in_another_list(world: ApiWorld) -> None:
    world.converse(world.scope(), "c2", 3)
    for scope in (world.scope(BOB), world.scope(ANN, "zeta"), world.member_scope()):
        world.converse(scope, "c1", 3)
    cursor = cursor_of(world, f"{C1}/messages?limit=1", world.visitor())
    others = [
        (f"{C1}/messages?order=desc", world.visitor()),
        ("/v1/conversations/c2/messages", world.visitor()),
        ("/v1/conversations", world.visitor()),
        (f"{C1}/messages", world.visitor(BOB)),
        (f"{C1}/messages", world.visitor(ANN, "zeta")),
        (f"{C1}/messages", world.member()),
    ]
    replies = [
        world.ask("GET", f"{address}{'&' if '?' in address else '?'}cursor={cursor}", who) for address, who in others
    ]
    assert [(reply.status, reply.code) for reply in replies] == [(400, "cursor_invalid")] * len(others)


def test_a_search_is_not_gone_on_with_under_another_title() -> None:
    world = ApiWorld()
    for name in ("c1", "c2"):
        world.converse(world.scope(), name, title="Rain")
    cursor = cursor_of(world, "/v1/conversations?title=rain&limit=1", world.visitor())
    assert world.ask("GET", f"/v1/conversations?title=RAIN&cursor={cursor}", world.visitor()).status == 200
    assert world.ask("GET", f"/v1/conversations?cursor={cursor}", world.visitor()).code == "cursor_invalid"


@pytest.mark.parametrize("cursor", ["", "x", "A" * 60, "A" * 1_025, "é", "%00"])
def test_what_is_no_cursor_is_refused(world: ApiWorld, cursor: str) -> None:
    reply = world.ask("GET", f"/v1/conversations?cursor={cursor}", world.visitor())
    assert (reply.status, reply.code) == (400, "cursor_invalid")


def test_a_cursor_outlives_one_rotation_of_the_secret(world: ApiWorld) -> None:
    cursor = cursor_of(world, f"{C1}/messages?limit=1", world.visitor())
    world.keys.rotate(b"another secret")
    assert world.ask("GET", f"{C1}/messages?cursor={cursor}", world.visitor()).status == 200
    world.keys.rotate(b"a third secret")
    assert world.ask("GET", f"{C1}/messages?cursor={cursor}", world.visitor()).status == 400
