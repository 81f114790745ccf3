"""`POST /api/ai-chat`: answers, and the checks that count nothing."""

from __future__ import annotations

import pytest

from fencepost.http.body import MAX_BODY_BYTES
from fencepost.kernel.money import Usage
from fencepost.model.ports import Completion
from fencepost.observability.domain.events import RequestEvent
from tests.worlds.chat import REQUEST_ID, SHOP, BrokenKeys, FakeModel, World, pairs

OTHER_METHODS = ["GET", "HEAD", "PUT", "PATCH", "DELETE"]


def test_an_answer_has_its_text_its_sources_and_a_signature() -> None:
    world = World(model=FakeModel(lambda: Completion("Run `make dev` [guide#1].", Usage(100, 0, 0, 10), 0.1)))
    reply = world.ask()
    assert reply.status == 200
    assert set(reply.json) == {"response", "sources", "signature"}
    assert "make dev" in reply.json["response"]
    assert world.calls == 1


def test_every_answer_bears_the_standing_headers() -> None:
    for reply in (World().ask(), World().send("{"), World(demo_reply="Hi").ask()):
        assert reply.headers["content-type"] == "application/json; charset=utf-8"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-request-id"] == REQUEST_ID


def test_the_message_is_the_last_thing_in_the_prompt() -> None:
    world = World()
    world.ask("  How do I ＩＮＳＴＡＬＬ\u200b it? ", history=pairs(2))
    assert isinstance(world.model, FakeModel)
    last = world.model.prompts[0].turns[-1]
    assert last.blocks[-1].text.endswith("How do I INSTALL it?")


def test_an_answer_is_reported_without_a_word_of_it() -> None:
    world = World()
    world.ask("A question about kumquats")
    (event,) = world.events.of(RequestEvent)
    assert (event.outcome, event.status, event.input_tokens, event.output_tokens) == ("answered", 200, 100, 10)
    assert event.cost_microdollars == 100 * 1 + 10 * 5
    assert set(event.sources) == {"guide#1", "guide#2"}
    reached = {"guard", "documents", "assemble", "reserve", "provider", "first_token", "settle", "total"}
    assert {name for name, value in event.stages if value is not None} == reached
    assert "kumquats" not in "".join(each.model_dump_json() for each in world.events.emitted)


@pytest.mark.parametrize("method", OTHER_METHODS)
def test_other_methods_are_not_allowed(method: str) -> None:
    world = World()
    reply = world.send('{"message": "Hello"}', method=method)
    assert (reply.status, reply.headers["allow"]) == (405, "POST, OPTIONS")
    assert reply.text == "" if method == "HEAD" else reply.json["error"] == "Method not allowed"
    assert world.counted == 0


def test_a_preflight_touches_nothing() -> None:
    world = World(keys=BrokenKeys())
    assert world.send(method="OPTIONS", headers={"origin": SHOP}).status == 204
    assert world.counted == 0
    assert world.events.of(RequestEvent)[0].outcome == "preflight"


@pytest.mark.parametrize("body", ["", "not json", "x" * (MAX_BODY_BYTES + 1)])
def test_the_demo_answers_whatever_comes(body: str) -> None:
    world = World(demo_reply="**Hi!**", keys=BrokenKeys())
    reply = world.send(body, headers={"content-type": "text/plain", "origin": "https://evil.test"})
    assert (reply.status, reply.json) == (200, {"response": "**Hi!**", "sources": [], "signature": ""})
    assert (world.counted, world.calls, world.audit.records) == (0, 0, [])
    assert world.events.of(RequestEvent)[0].outcome == "demo"


@pytest.mark.parametrize("method", OTHER_METHODS)
def test_the_demo_is_for_post_alone(method: str) -> None:
    assert World(demo_reply="Hi").send(method=method).status == 405


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json ;charset=UTF-8",
        'application/json; charset="utf-8"; q=1',
        "\tapplication/json\t",
    ],
)
def test_json_is_json_however_it_is_written(media_type: str) -> None:
    assert World().send('{"message": "Hello"}', headers={"Content-Type": media_type}).status == 200


@pytest.mark.parametrize(
    "media_type",
    [
        None,
        "",
        "application/jsonp",
        "application/json-patch+json",
        "application/problem+json",
        "text/json",
        "text/plain",
        "text/plain; application/json",
        "application/json, text/plain",
        "application /json",
        "json",
        "multipart/form-data; boundary=application/json",
    ],
)
def test_other_media_types_count_nothing(media_type: str | None) -> None:
    world = World()
    reply = world.send('{"message": "Hello"}', headers={} if media_type is None else {"content-type": media_type})
    assert (reply.status, reply.code, world.counted) == (415, "unsupported_media_type", 0)
