"""The OpenAPI document, and the API held against it by schemathesis."""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import settings
from schemathesis.checks import CheckFunction
from schemathesis.specs.openapi.checks import positive_data_acceptance, unsupported_method

from fencepost import __version__
from fencepost.edge.errors import ERRORS
from fencepost.edge.meta import handler as meta
from fencepost.edge.openapi import openapi_document
from tests.chat_world import World, proxy_event
from tests.wsgi import gateway

app = gateway({"/api/ai-chat": World().endpoint, "/health": meta, "/openapi.json": meta})
# A body that violates a bound may violate that of the whole request first.
CONFIG = {"checks": {"negative_data_rejection": {"expected-statuses": ["400", "413", "415"]}}}
schema = schemathesis.openapi.from_wsgi("/openapi.json", app, config=schemathesis.Config.from_dict(CONFIG))

NOT_OURS: list[CheckFunction] = [
    # The gateway answers for methods that no function is behind; the chat's own are tested row by row.
    unsupported_method,
    # A schema cannot say that a history is unbalanced, or that a question is none.
    positive_data_acceptance,
]


@schema.parametrize()
@settings(max_examples=150, deadline=None)
def test_the_api_does_what_its_document_says(case: schemathesis.Case[Any]) -> None:
    case.call_and_validate(excluded_checks=NOT_OURS)


def test_the_document_is_served() -> None:
    answer = meta(proxy_event(method="GET", resource="/openapi.json"), None)
    document = json.loads(answer["body"])
    assert (answer["statusCode"], document) == (200, json.loads(json.dumps(openapi_document())))
    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", __version__)


def test_every_code_is_documented_under_its_status() -> None:
    responses = openapi_document()["paths"]["/api/ai-chat"]["post"]["responses"]
    documented = {
        code: int(status)
        for status, response in responses.items()
        if status != "200"
        for code in response["content"]["application/json"]["schema"]["properties"]["code"]["enum"]
    }
    assert documented == {
        code: row.status for code, row in ERRORS.items() if code not in {"method_not_allowed", "not_found"}
    }


@pytest.mark.parametrize("status", ["429", "503"])
def test_waits_are_documented(status: str) -> None:
    responses = openapi_document()["paths"]["/api/ai-chat"]["post"]["responses"]
    assert responses[status]["headers"]["Retry-After"]["required"]
