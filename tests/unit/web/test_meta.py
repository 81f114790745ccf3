"""`GET /health` and what lies beside it."""

from __future__ import annotations

import json

from fencepost import __version__
from fencepost.web.meta import handler
from tests.worlds.chat import REQUEST_ID, proxy_event


def test_health_says_what_is_up_and_which_version() -> None:
    answer = handler(proxy_event(method="GET", headers={}, resource="/health"), None)
    assert (answer["statusCode"], json.loads(answer["body"])) == (200, {"status": "ok", "version": __version__})
    assert answer["headers"]["Cache-Control"] == "no-store"


def test_other_resources_are_not_found_in_our_own_words() -> None:
    answer = handler(proxy_event(method="GET", resource="/elsewhere"), None)
    body = json.loads(answer["body"])
    assert (answer["statusCode"], body["code"], body["requestId"]) == (404, "not_found", REQUEST_ID)


def test_an_empty_event_is_answered() -> None:
    assert handler({}, None)["statusCode"] == 404
