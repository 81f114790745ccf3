"""The front door: what it passes on, what it keeps to itself, and whose address it reports."""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.doubles.stack import Stack


def test_an_answer_names_its_sources(stack: Stack) -> None:
    reply = stack.ask("May I use rechargeable batteries?")
    assert reply.status_code == 200, reply.text
    assert "Their voltage is too low" in reply.json()["response"]
    page = {"id": "batteries#1", "title": "Batteries", "url": f"{stack.url}/_local/site/batteries"}
    assert page in reply.json()["sources"]


def test_a_japanese_question_is_answered_from_the_japanese_page(stack: Stack) -> None:
    reply = stack.ask("電池はどのくらい持ちますか？")
    assert reply.status_code == 200, reply.text
    assert any("/ja/" in source["url"] for source in reply.json()["sources"])


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE"])
def test_other_methods_reach_the_api(stack: Stack, method: str) -> None:
    reply = stack.http.request(method, "/api/ai-chat")
    assert reply.status_code == 405
    assert "POST" in reply.headers["Allow"]


def test_a_preflight_reaches_the_api(stack: Stack) -> None:
    reply = stack.http.options("/api/ai-chat", headers={"Origin": stack.url, "Access-Control-Request-Method": "POST"})
    assert reply.status_code == 204
    assert reply.headers["Access-Control-Allow-Origin"] == stack.url


def test_the_open_api_document_is_served(stack: Stack) -> None:
    assert "/api/ai-chat" in stack.http.get("/openapi.json").json()["paths"]


def test_a_path_that_the_api_does_not_have_is_the_gateways_to_refuse(stack: Stack) -> None:
    reply = stack.http.get("/nothing/here")
    assert reply.status_code in (403, 404)
    assert "x-amzn-requestid" in reply.headers


@pytest.mark.parametrize(
    "header",
    ["X-Forwarded-For", "x-forwarded-for", "Forwarded", "X-Real-IP", "CloudFront-Viewer-Address", "True-Client-IP"],
)
def test_no_header_changes_the_counted_address(stack: Stack, header: str) -> None:
    stack.ask("What is in the box?")
    counted = _counted(stack)
    stack.ask("What is in the box?", **{header: "for=203.0.113.7" if header == "Forwarded" else "203.0.113.7"})
    assert _counted(stack) == counted


def _counted(stack: Stack) -> set[str]:
    rows = stack.client("dynamodb").scan(TableName=stack.physical("LimitsTable"), ConsistentRead=True)["Items"]
    assert rows
    return {row["pk"]["S"] for row in rows}


@pytest.mark.parametrize("path", ["/api/../../../_ministack/health", "/%2e%2e/%2E./_ministack/health", "/.."])
def test_no_path_climbs_out_of_the_api(stack: Stack, path: str) -> None:
    # A client that sends the path as it is written.
    connection = http.client.HTTPConnection(stack.url.removeprefix("http://"))
    connection.request("GET", path)
    reply = connection.getresponse()
    assert (reply.status, json.loads(reply.read())["code"]) == (400, "invalid_path")
    connection.close()


def test_a_foreign_host_name_is_refused(stack: Stack) -> None:
    reply = stack.http.get("/health", headers={"Host": "rebound.example"})
    assert reply.status_code == 421


def test_a_burst_waits_its_turn(stack: Stack) -> None:
    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(lambda _: stack.ask("What is in the box?").status_code, range(4)))
    assert statuses == [200] * 4


def test_a_lowered_cap_binds_after_the_deployment(stack: Stack) -> None:
    with stack.parameters(DailyCallLimit="0"):
        reply = stack.ask("What is in the box?")
        assert reply.status_code == 429
        assert int(reply.headers["Retry-After"]) == reply.json()["retryAfter"]
    assert stack.ask("What is in the box?").status_code == 200
