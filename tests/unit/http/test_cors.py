"""Which pages may call the API, as their browsers see it."""

from __future__ import annotations

import pytest

from tests.worlds.chat import API, JSON_TYPE, SHOP, FakeModel, Reply, World, fails

LISTED = ("https://a.example", "http://b.example:8080", "https://c.example:443")
CORS = "access-control-allow-origin"

ALLOWED = [
    "https://a.example",
    "https://A.Example",
    "https://a.example:443",
    "http://b.example:8080",
    "https://c.example",
    f"https://{API}",
]
FOREIGN = [
    "https://a.example.evil.test",
    "https://evil.test/https://a.example",
    "https://a.example@evil.test",
    "https://xa.example",
    "https://a.example.",
    "https://a.example:8443",
    "http://a.example",
    "http://b.example",
    "https://b.example:8080",
    "https://a.example/",
    "https://a.example, https://evil.test",
    "https://a.example\r\nX-Evil: 1",
    "https://a.example\t",
    " https://a.example",
    f"http://{API}",
    "null",
    "*",
    "",
    "file://",
    "file:///etc/passwd",
    "chrome-extension://abcdef",
    "//a.example",
    "a.example",
    "https://",
    "https://[::1",
    "https://а.example",
]


def send(world: World, origin: str | None, method: str = "POST") -> Reply:
    headers = JSON_TYPE if origin is None else {**JSON_TYPE, "origin": origin}
    return world.send('{"message": "Hello?"}', method=method, headers=headers)


def cors_headers(reply: Reply) -> dict[str, str]:
    return {name: value for name, value in reply.headers.items() if name.startswith("access-control-")}


@pytest.mark.parametrize("origin", ALLOWED)
def test_an_allowed_origin_is_echoed_exactly(origin: str) -> None:
    reply = send(World(origins=LISTED), origin)
    assert (reply.status, reply.headers[CORS], reply.headers["vary"]) == (200, origin, "Origin")
    assert "Retry-After" in reply.headers["access-control-expose-headers"]


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_foreign_page_gets_no_cors_headers_and_counts_nothing(origin: str) -> None:
    world = World(origins=LISTED)
    reply = send(world, origin)
    assert (reply.status, reply.code) == (403, "origin_not_allowed")
    assert cors_headers(reply) == {}
    assert reply.headers["vary"] == "Origin"
    assert world.counted == 0


@pytest.mark.parametrize("origin", ALLOWED)
def test_a_preflight_says_what_is_allowed(origin: str) -> None:
    reply = send(World(origins=LISTED), origin, "OPTIONS")
    assert (reply.status, reply.text, reply.headers[CORS]) == (204, "", origin)
    assert "POST" in reply.headers["access-control-allow-methods"]
    assert reply.headers["access-control-allow-headers"].lower() == "content-type"
    assert int(reply.headers["access-control-max-age"]) > 0
    assert "content-type" not in reply.headers


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_foreign_preflight_gets_an_empty_answer(origin: str) -> None:
    reply = send(World(origins=LISTED), origin, "OPTIONS")
    assert (reply.status, reply.text, cors_headers(reply)) == (204, "", {})


def test_without_a_list_only_the_api_itself_may_call() -> None:
    assert send(World(origins=()), SHOP).status == 403
    assert send(World(origins=()), f"https://{API}").status == 200


def test_requests_of_no_page_are_served() -> None:
    reply = send(World(origins=()), None)
    assert (reply.status, cors_headers(reply), reply.headers["vary"]) == (200, {}, "Origin")


@pytest.mark.parametrize("origin", [*ALLOWED, *FOREIGN, None])
@pytest.mark.parametrize("method", ["POST", "OPTIONS", "GET"])
def test_the_demo_is_open_to_all(origin: str | None, method: str) -> None:
    assert send(World(demo_reply="Hi"), origin, method).headers[CORS] == "*"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_allowed_page_can_read_its_errors(method: str) -> None:
    reply = World().send("{", method=method, headers={**JSON_TYPE, "origin": SHOP})
    assert reply.status in {400, 405}
    assert reply.headers[CORS] == SHOP


def test_a_crash_still_has_cors_headers() -> None:
    reply = send(World(model=FakeModel(fails(RuntimeError("no")))), SHOP)
    assert (reply.status, reply.code, reply.headers[CORS]) == (500, "internal_error", SHOP)
