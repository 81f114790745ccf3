"""A closed site answers nobody and pays for nothing; whom it knew may take away what was said, and erase it."""

from __future__ import annotations

from tests.worlds.api import PAGE, ApiWorld
from tests.worlds.talk import Talk
from tests.worlds.whole_api import whole_api

LEAVING = (
    ("POST", "/v1/exports", 202),
    ("POST", "/v1/conversations/c1/exports", 202),
    ("GET", "/v1/exports/none", 404),
    ("DELETE", "/v1/facts/none", 404),
    ("DELETE", "/v1/conversations/none", 404),
    ("DELETE", "/v1/me", 200),
    ("GET", "/v1/erasures/none", 404),
)


def test_whoever_a_closed_site_knew_may_take_away_and_erase_and_no_more() -> None:
    world = whole_api()
    headers = {**world.visitor(), "origin": PAGE}
    close(world)
    assert [world.ask(method, address, headers).status for method, address, _ in LEAVING] == [
        status for *_, status in LEAVING
    ]
    assert world.ask("DELETE", "/v1/me", {**headers, "origin": "https://evil.example"}).code == "origin_not_allowed"
    for method, address in (
        ("GET", "/v1/conversations"),
        ("GET", "/v1/conversations/c1"),
        ("GET", "/v1/facts"),
        ("POST", "/v1/chat"),
    ):
        assert world.ask(method, address, headers).code == "token_invalid"


def test_a_closed_site_answers_nobody_anew_and_hands_nobody_to_the_deployment() -> None:
    talk = Talk()
    member = talk.api.member()
    conversation = talk.chat(messageId="m1", who=member).json["conversationId"]
    close(talk.api)
    replies = [
        talk.anew("m1", member),
        talk.chat("More", who=member),
        talk.chat("More", who=member, conversationId=conversation),
    ]
    assert {(reply.status, reply.code) for reply in replies} == {(404, "site_unknown")}
    assert talk.calls == 1


def close(world: ApiWorld) -> None:
    world.directory.add_site("acme", "docs", origins=(PAGE,), active=False)
