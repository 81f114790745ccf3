"""One function, several of the gateway's resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fencepost.http.endpoint import ByResource, Handler
from fencepost.http.proxy import ProxyResponse


def says(name: str) -> Handler:
    def handle(_event: Mapping[str, Any], _context: object) -> ProxyResponse:
        return {"statusCode": 200, "headers": {}, "body": name, "isBase64Encoded": False}

    return handle


@pytest.mark.parametrize(
    ("event", "answers"),
    [
        ({"resource": "/api/ai-chat"}, "stateless"),
        ({"resource": "/v1/chat"}, "turn"),
        ({"resource": "/another"}, "stateless"),
        ({"resource": None}, "stateless"),
        ({}, "stateless"),
    ],
)
def test_each_resource_has_its_own_handler(event: dict[str, Any], answers: str) -> None:
    handler = ByResource({"/api/ai-chat": says("stateless"), "/v1/chat": says("turn")})
    assert handler(event, None)["body"] == answers
