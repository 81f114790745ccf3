"""`/v1/conversations…` and `/v1/messages…`, as a client meets them."""

from __future__ import annotations

import pytest

from fencepost.observability.domain.events import RequestEvent
from tests.worlds.api import ANN, BOB, SOURCE, ApiWorld
from tests.worlds.whole_api import whole_api

C1 = "/v1/conversations/c1"


@pytest.fixture
def world() -> ApiWorld:
    world = ApiWorld()
    world.converse(world.scope(), "c1", 3, title="Rain gauges")
    return world


def test_a_conversation_is_read(world: ApiWorld) -> None:
    reply = world.ask("GET", C1, world.visitor())
    assert (reply.status, reply.json) == (
        200,
        {
            "id": "c1",
            "title": "Rain gauges",
            "site": "docs",
            "createdAt": "2026-03-14T12:00:30Z",
            "updatedAt": "2026-03-14T12:00:30Z",
            "messageCount": 6,
        },
    )


def test_a_question_that_waits_counts_and_is_shown(world: ApiWorld) -> None:
    world.wait(world.scope(), "c1")
    assert world.ask("GET", C1, world.visitor()).json["messageCount"] == 7
    last = world.ask("GET", f"{C1}/messages?order=desc&limit=1", world.visitor()).json["items"]
    assert [(item["id"], item["seq"], item["status"]) for item in last] == [("waiting", 7, "pending")]


def test_messages_are_whole(world: ApiWorld) -> None:
    question, answer = world.ask("GET", f"{C1}/messages?limit=2", world.visitor()).json["items"]
    assert question == {
        "id": "c1-1",
        "seq": 1,
        "role": "user",
        "content": "Question 1 of c1?",
        "createdAt": "2026-03-14T12:00:30Z",
        "status": "answered",
    }
    assert answer == {
        "id": "c1-1.1",
        "seq": 2,
        "role": "assistant",
        "content": "Answer 1 of c1.",
        "createdAt": "2026-03-14T12:00:30Z",
        "status": "complete",
        "replyTo": 1,
        "sources": [{"id": SOURCE.id, "title": SOURCE.title, "url": SOURCE.url}],
        "usage": {"inputTokens": 100, "cacheWriteTokens": 0, "cacheReadTokens": 0, "outputTokens": 10},
    }


def test_a_conversation_is_renamed(world: ApiWorld) -> None:
    world.clock.advance(60)
    reply = world.ask("PATCH", C1, world.visitor(), {"title": "  Ｎｅｗ\u200b title "})
    assert (reply.status, reply.json["title"], reply.json["updatedAt"]) == (200, "New title", "2026-03-14T12:01:30Z")
    assert world.ask("GET", C1, world.visitor()).json["title"] == "New title"


@pytest.mark.parametrize("title", [None, "", "  ", "\u200b", "a" * 201, 7, ["a"], "ﷺ" * 200])
def test_other_titles_are_refused_and_change_nothing(world: ApiWorld, title: object) -> None:
    reply = world.ask("PATCH", C1, world.visitor(), {"title": title})
    assert (reply.status, reply.code) == (400, "title_invalid")
    assert world.ask("GET", C1, world.visitor()).json["title"] == "Rain gauges"


def rating(world: ApiWorld, seq: int) -> str | None:
    items = world.ask("GET", f"{C1}/messages", world.visitor()).json["items"]
    found: str | None = items[seq - 1].get("rating")
    return found


@pytest.mark.parametrize("message_id", ["c1-2", "c1-2.1"])
def test_an_answer_is_rated_by_its_id_or_its_question(world: ApiWorld, message_id: str) -> None:
    address = f"/v1/messages/{message_id}/feedback"
    assert world.ask("POST", address, world.visitor(), {"rating": "up"}).json == {
        "messageId": message_id,
        "rating": "up",
    }
    assert rating(world, 4) == "up"
    assert world.ask("POST", address, world.visitor(), {"rating": None}).status == 200
    assert rating(world, 4) is None


@pytest.mark.parametrize("body", [{}, {"rating": "best"}, {"rating": 1}, {"rating": True}, {"rating": ["up"]}])
def test_other_ratings_are_refused(world: ApiWorld, body: object) -> None:
    reply = world.ask("POST", "/v1/messages/c1-2/feedback", world.visitor(), body)
    assert (reply.status, reply.code) == (400, "rating_invalid")


@pytest.mark.parametrize("message_id", ["c1-2", "c1-2.1"])
@pytest.mark.parametrize("address", ["/v1/conversations/c1/messages/{}/context", "/v1/messages/{}/context"])
def test_the_audit_view_says_what_went_into_an_answer(world: ApiWorld, address: str, message_id: str) -> None:
    reply = world.ask("GET", address.format(message_id), world.visitor())
    assert (reply.status, reply.json) == (
        200,
        {
            "answerId": "c1-2.1",
            "createdAt": "2026-03-14T12:00:30Z",
            "model": "claude-haiku-4-5",
            "promptVersion": "2",
            "permissionVersion": 0,
            "layers": [
                {"layer": "rules", "tokens": 200, "sources": []},
                {"layer": "context", "tokens": 50, "sources": ["guide#1"]},
            ],
            "usage": {"inputTokens": 100, "cacheWriteTokens": 0, "cacheReadTokens": 0, "outputTokens": 10},
            "costMicrodollars": 150,
            "cited": ["guide#1"],
            "degraded": False,
        },
    )


@pytest.mark.parametrize(
    ("method", "address", "body"),
    [("GET", "/v1/messages/waiting/context", None), ("POST", "/v1/messages/waiting/feedback", {"rating": "up"})],
)
def test_a_question_without_an_answer_says_so(world: ApiWorld, method: str, address: str, body: object) -> None:
    world.wait(world.scope(), "c1")
    reply = world.ask(method, address, world.visitor(), body)
    assert (reply.status, reply.code) == (409, "answer_missing")


def test_a_message_is_not_found_in_another_conversation(world: ApiWorld) -> None:
    world.converse(world.scope(), "c2")
    assert world.ask("GET", "/v1/conversations/c2/messages/c1-1/context", world.visitor()).status == 404


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/v1/messages/c1-3/regenerate", 200),
        ("/v1/conversations/c1/messages/c1-3.1/regenerate", 200),
        ("/v1/conversations/c2/messages/c1-3/regenerate", 404),
    ],
)
def test_an_answer_is_made_anew_where_it_stands(address: str, status: int) -> None:
    world = whole_api()
    world.converse(world.scope(), "c2")
    reply = world.ask("POST", address, world.visitor())
    assert (reply.status, reply.json.get("answerId")) == (status, "c1-3.2" if status == 200 else None)


def test_what_is_erased_is_gone_before_its_pointers_are(world: ApiWorld) -> None:
    world.store.shelf.conversations.clear()
    for method, address, body in EVERYTHING:
        assert world.ask(method, address, world.visitor(), body).status == 404


EVERYTHING: list[tuple[str, str, object]] = [
    ("GET", C1, None),
    ("PATCH", C1, {"title": "Mine"}),
    ("GET", f"{C1}/messages", None),
    ("GET", f"{C1}/messages/c1-1/context", None),
    ("GET", "/v1/messages/c1-1/context", None),
    ("GET", "/v1/messages/c1-1.1/context", None),
    ("POST", "/v1/messages/c1-1/feedback", {"rating": "up"}),
    ("POST", "/v1/messages/c1-1.1/feedback", {"rating": "up"}),
]


@pytest.mark.parametrize(("method", "address", "body"), EVERYTHING)
def test_absent_and_foreign_are_told_apart_by_nobody(method: str, address: str, body: object) -> None:
    world, bare = ApiWorld(), ApiWorld()
    world.converse(world.scope(ANN), "c1", 3)
    world.converse(world.scope(ANN, "zeta"), "c1", 3)
    strangers = [world.visitor(BOB), world.member(), world.member(org="zeta"), world.member("nobody")]
    foreign = [world.ask(method, address, who, body) for who in strangers]
    absent = bare.ask(method, address, bare.visitor(ANN), body)
    assert (absent.status, absent.code) == (404, "not_found")
    assert all((reply.status, reply.headers, reply.text) == (404, absent.headers, absent.text) for reply in foreign)


@pytest.mark.parametrize("word", ["%00", "a%20b", "%C3%A9", "%ED%A0%80", "a" * 256, "%0D%0AX:1", "\ud800"])
@pytest.mark.parametrize("address", ["/v1/conversations/{}", "/v1/messages/{}/context"])
def test_what_cannot_be_an_id_is_absent(world: ApiWorld, address: str, word: str) -> None:
    absent = world.ask("GET", address.format("c9"), world.visitor())
    reply = world.ask("GET", address.format(word), world.visitor())
    assert (reply.status, reply.headers, reply.text) == (404, absent.headers, absent.text)


@pytest.mark.parametrize(("method", "address", "body"), EVERYTHING)
def test_a_store_that_does_not_answer_is_no_fault_of_the_client(
    world: ApiWorld, method: str, address: str, body: object
) -> None:
    world.store.faults.due.append("before")
    reply = world.ask(method, address, world.visitor(), body)
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "conversations_unavailable", "5")


def test_requests_are_reported_by_their_route_and_without_a_word(world: ApiWorld) -> None:
    world.ask("PATCH", C1, world.visitor(), {"title": "A kumquat"})
    (event,) = world.events.of(RequestEvent)
    assert (event.outcome, event.status, event.route) == ("done", 200, "PATCH /v1/conversations/{id}")
    assert "kumquat" not in event.model_dump_json()
    assert ANN not in event.model_dump_json()
