"""Hostile inputs in every place of `/v1` that takes any: clean answers, and never a log line with their text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest

from fencepost.observability.powertools.log import LambdaEvents
from tests.unit.turns.test_hostile_inputs import BODIES, CANARY, STRINGS, TELLING_LENGTH, json_suite, naughty_strings
from tests.worlds.api import ApiWorld
from tests.worlds.chat import JSON_TYPE, Reply
from tests.worlds.thoroughness import some
from tests.worlds.whole_api import whole_api

type Say = Callable[[ApiWorld, str], Reply]


def hostile(text: str) -> str:
    return f"{text} {CANARY}"


def in_body(method: str, address: str, body: Callable[[str], object]) -> Say:
    def say(world: ApiWorld, text: str) -> Reply:
        return world.ask(method, address, world.member("root"), body(hostile(text)))

    return say


def in_path(method: str, address: str) -> Say:
    def say(world: ApiWorld, text: str) -> Reply:
        place = quote(hostile(text).encode("utf-8", "surrogatepass"), safe="")
        return world.send(method, address.format(place), headers=world.member("root"))

    return say


def in_query(address: str, name: str) -> Say:
    def say(world: ApiWorld, text: str) -> Reply:
        query = urlencode({name: hostile(text).encode("utf-8", "surrogatepass")})
        return world.send("GET", f"{address}?{query}", headers=world.member("root"))

    return say


def in_header(name: str) -> Say:
    def say(world: ApiWorld, text: str) -> Reply:
        return world.send("GET", "/v1/conversations", headers={**world.member("root"), name: hostile(text)})

    return say


PLACES: Mapping[str, tuple[Say, set[int]]] = {
    "title": (in_body("PATCH", "/v1/conversations/c1", lambda text: {"title": text}), {400, 404}),
    "rating": (in_body("POST", "/v1/messages/c1-1/feedback", lambda text: {"rating": text}), {400}),
    "message": (in_body("POST", "/v1/chat", lambda text: {"message": text}), {200, 400}),
    "message's id": (in_body("POST", "/v1/chat", lambda text: {"message": "Hm?", "messageId": text}), {400}),
    "conversation's id": (in_body("POST", "/v1/chat", lambda text: {"message": "Hm?", "conversationId": text}), {400}),
    "site's key": (lambda world, text: world.ask("POST", "/v1/visitors", {}, {"site": hostile(text)}), {400, 404}),
    "fact": (in_body("PUT", "/v1/facts", lambda text: {"facts": [text]}), {200, 400}),
    "fact's id": (in_body("PUT", "/v1/facts", lambda text: {"facts": [{"text": "So.", "id": text}]}), {200, 400, 404}),
    "bundle": (in_body("POST", "/v1/imports", lambda text: {"bundle": text}), {400}),
    "file": (
        in_body("POST", "/v1/attachments", lambda text: {"name": text, "contentType": "text/plain", "size": 9}),
        {201, 400},
    ),
    "organisation's name": (in_body("PUT", "/v1/admin/organisation", lambda text: {"name": text}), {200, 400}),
    "product prompt": (in_body("PUT", "/v1/admin/sites/docs", lambda text: {"productPrompt": text}), {200, 400}),
    "document": (in_body("POST", "/v1/documents", lambda text: {"text": text, "title": text}), {202, 400}),
    "document's source": (in_body("POST", "/v1/documents", lambda text: {"source": text}), {400}),
    "reason": (
        in_body(
            "POST",
            "/v1/admin/diagnostics",
            lambda text: {"conversationId": "c1", "owner": "member:u1", "reason": text, "minutes": 5},
        ),
        {201, 400},
    ),
    "conversation": (in_path("GET", "/v1/conversations/{}"), {404}),
    "erased conversation": (in_path("DELETE", "/v1/conversations/{}"), {404}),
    "context": (in_path("GET", "/v1/messages/{}/context"), {404}),
    "regenerated": (in_path("POST", "/v1/messages/{}/regenerate"), {404}),
    "route": (in_path("GET", "/v1/{}"), {404}),
    "cursor": (in_query("/v1/conversations", "cursor"), {400}),
    "search": (in_query("/v1/conversations", "title"), {200, 400}),
    "parameter": (in_query("/v1/conversations/c1/messages", "order"), {400}),
    "organisation": (in_header("x-org-id"), {404}),
    "token": (in_header("authorization"), {401}),
    "origin": (in_header("origin"), {403}),
    "user agent": (in_header("user-agent"), {200}),
}


class Logged:
    """The API with the function's real log. What libraries and warnings write is read with it."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture
        self.world = whole_api()
        # A name of its own, or its lines would go where an earlier test's went.
        self.world.log = LambdaEvents(f"fencepost-{uuid4()}")

    def assert_holds_nothing_of(self, texts: Iterable[str]) -> None:
        captured = self._capture.readouterr()
        log = captured.out + captured.err
        assert '"event":"request"' in log
        assert CANARY not in log
        telling = (form for text in texts if len(text) >= TELLING_LENGTH for form in (text, json.dumps(text)[1:-1]))
        assert [text for text in telling if text in log] == []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("strings", [lambda: STRINGS, naughty_strings], ids=["ours", "naughty strings"])
def test_strings(strings: Callable[[], list[str]], place: str, capsys: pytest.CaptureFixture[str]) -> None:
    say, allowed = PLACES[place]
    logged, texts = Logged(capsys), some(strings(), 8, place) if strings is naughty_strings else strings()
    replies = [(text, say(logged.world, text)) for text in texts]
    assert [(text, reply.status, reply.text) for text, reply in replies if reply.status not in allowed] == []
    # A refusal never repeats what was sent.
    assert [text for text, reply in replies if reply.status >= 400 and CANARY in reply.text] == []
    logged.assert_holds_nothing_of(texts)


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("POST", "/v1/chat"),
        ("POST", "/v1/visitors"),
        ("PATCH", "/v1/conversations/c1"),
        ("POST", "/v1/messages/c1-1/feedback"),
        ("PUT", "/v1/facts"),
        ("POST", "/v1/imports"),
        ("POST", "/v1/attachments"),
        ("POST", "/v1/documents"),
        ("PATCH", "/v1/documents/c1"),
        ("PUT", "/v1/admin/sites/docs"),
        ("POST", "/v1/admin/diagnostics"),
        ("POST", "/v1/conversations/c1/carry"),
    ],
)
@pytest.mark.parametrize("bodies", [lambda: BODIES, json_suite], ids=["ours", "JSON suite"])
def test_raw_bodies(bodies: Callable[[], list[tuple[bytes, str]]], method: str, address: str) -> None:
    world = whole_api()
    who = {**world.member("root"), **JSON_TYPE}
    sent = some(bodies(), 4, f"{method} {address}") if bodies is json_suite else bodies()
    rows = [(body, expect, world.send(method, address, body, headers=who)) for body, expect in sent]
    odd = [(body[:80], reply.status) for body, _, reply in rows if reply.status not in {200, 201, 202, 400, 404, 409}]
    assert odd == []
    assert [body[:80] for body, expect, reply in rows if expect == "reject" and reply.status != 400] == []
