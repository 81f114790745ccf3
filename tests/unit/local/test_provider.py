"""The stand-in for the provider: its wire format as the real SDK reads it, its rules, its controls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import anthropic
import httpx
import pytest
from anthropic.types import MessageParam

from fencepost.limits.domain.prices import PRICES
from local.provider import create_app
from local.provider.models import MODELS
from local.provider.usage import count_tokens
from tests.doubles.servers import serve
from tests.doubles.stand_in import sdk_client

HAIKU = "claude-haiku-5-5"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve(create_app()) as url:
        yield url


@pytest.fixture
def url(server: str) -> str:
    httpx.delete(f"{server}/control", trust_env=False).raise_for_status()
    return server


@pytest.fixture
def client(url: str) -> anthropic.Anthropic:
    return sdk_client(url)


def post(url: str, body: object, headers: Mapping[str, str] | None = None) -> httpx.Response:
    sent = {"anthropic-version": "2026-10-21", "authorization": "Bearer any"} if headers is None else headers
    return httpx.post(f"{url}/v1/messages", content=json.dumps(body), headers=sent, trust_env=False)


def call(**changes: Any) -> dict[str, Any]:
    return {"model": HAIKU, "max_tokens": 400, "messages": [{"role": "user", "content": "Hello"}]} | changes


class TestWireFormat:
    def test_a_message_as_json(self, client: anthropic.Anthropic) -> None:
        message = client.messages.create(model=HAIKU, max_tokens=100, messages=[{"role": "user", "content": "Hi"}])

        assert (message.type, message.role, message.model, message.stop_reason) == (
            "message",
            "assistant",
            HAIKU,
            "end_turn",
        )
        assert message.usage.input_tokens == count_tokens("Hi")

    def test_the_same_message_as_a_stream(self, client: anthropic.Anthropic) -> None:
        messages: list[MessageParam] = [{"role": "user", "content": "How are refunds paid?"}]
        whole = client.messages.create(model=HAIKU, max_tokens=400, messages=messages)
        with client.messages.stream(model=HAIKU, max_tokens=400, messages=messages) as stream:
            streamed = stream.get_final_message()

        assert [block.model_dump(include={"type", "text"}) for block in streamed.content] == [
            block.model_dump(include={"type", "text"}) for block in whole.content
        ]
        assert streamed.stop_reason == whole.stop_reason
        assert streamed.usage.output_tokens == whole.usage.output_tokens

    def test_events_come_in_the_providers_order(self, url: str) -> None:
        with httpx.stream(
            "POST",
            f"{url}/v1/messages",
            json=call(stream=True),
            headers={"anthropic-version": "2026-10-21", "x-api-key": "any"},
            trust_env=False,
        ) as response:
            names = [line.removeprefix("event: ") for line in response.iter_lines() if line.startswith("event: ")]

        assert response.headers["content-type"].startswith("text/event-stream")
        assert list(dict.fromkeys(names)) == [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
        assert names.count("content_block_delta") > 1

    def test_a_long_answer_stops_at_max_tokens(self, client: anthropic.Anthropic, url: str) -> None:
        order(url, {"text": "한국어 " * 500})
        message = client.messages.create(model=HAIKU, max_tokens=7, messages=[{"role": "user", "content": "Hi"}])

        assert message.stop_reason == "max_tokens"
        assert message.usage.output_tokens <= 7

    def test_every_priced_model_is_known(self) -> None:
        assert set(PRICES) == set(MODELS)


class TestValidation:
    @pytest.mark.parametrize(
        ("body", "says"),
        [
            ({"model": HAIKU, "messages": [{"role": "user", "content": "Hi"}]}, "max_tokens"),
            (call(max_tokens=0), "max_tokens"),
            (call(max_tokens="100"), "max_tokens"),
            (call(messages=[]), "messages"),
            (call(messages=[{"role": "assistant", "content": "Hi"}]), "first message"),
            (call(messages=[{"role": "system", "content": "Hi"}]), "messages.0.role"),
            (call(messages=[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]), "alternate"),
            (call(messages=[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]), "end with"),
            (call(messages=[{"role": "user", "content": " \n"}]), "non-whitespace"),
            (call(messages=[{"role": "user", "content": []}]), "non-empty"),
            (call(system=[{"type": "text", "text": ""}]), "non-whitespace"),
            (call(temperature=0.2), "temperature"),
            (call(thinking={"type": "between_tools"}), "thinking.type.between_tools"),
            (call(system=[{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5), "maximum of 4"),
            (call(messages=[{"role": "user", "content": "x" * 3_000_003}]), "prompt is too long"),
            ([], "body"),
        ],
    )
    def test_a_bad_request_is_a_400_that_names_its_fault(self, url: str, body: object, says: str) -> None:
        response = post(url, body)

        assert response.status_code == 400
        assert response.json()["error"]["type"] == "invalid_request_error"
        assert says in response.json()["error"]["message"]

    def test_an_unknown_model_is_not_found(self, url: str) -> None:
        response = post(url, call(model="claude-abacus-1"))

        assert (response.status_code, response.json()["error"]["type"]) == (404, "not_found_error")

    @pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"x-api-key": ""}])
    def test_only_the_right_key_opens(self, headers: dict[str, str]) -> None:
        with serve(create_app(api_key="right")) as url:
            response = post(url, call(), {"anthropic-version": "2026-10-21"} | headers)
            assert (response.status_code, response.json()["error"]["type"]) == (401, "authentication_error")
            assert sdk_client(url, "right").messages.create(**call()).id

    def test_the_api_version_is_required(self, url: str) -> None:
        assert post(url, call(), {"x-api-key": "any"}).status_code == 400


class TestControl:
    def test_calls_are_recorded_without_their_key(self, url: str) -> None:
        sdk_client(url, "secret-key").messages.create(**call(max_tokens=11))
        received = httpx.get(f"{url}/control/requests", trust_env=False)

        assert received.json()["count"] == 1
        assert received.json()["requests"][0]["body"]["max_tokens"] == 11
        assert "secret-key" not in received.text

    def test_refused_calls_are_recorded_too(self, url: str) -> None:
        post(url, call(max_tokens=0))

        assert httpx.get(f"{url}/control/requests", trust_env=False).json()["count"] == 1

    def test_an_instruction_holds_as_often_as_it_says(self, url: str) -> None:
        order(url, {"status": 529, "times": 2}, {"status": 500})

        assert [post(url, call()).status_code for _ in range(4)] == [529, 529, 500, 200]

    def test_a_call_can_carry_its_own_instruction(self, client: anthropic.Anthropic) -> None:
        instruction = json.dumps({"status": 429, "headers": {"retry-after": "9"}})
        with pytest.raises(anthropic.RateLimitError) as raised:
            client.messages.create(**call(), extra_headers={"x-stand-in": instruction})
        assert raised.value.response.headers["retry-after"] == "9"

    @pytest.mark.parametrize("orders", [{"next": [{"status": 42}]}, {"next": [{"fault": "flood"}]}, {"last": []}])
    def test_orders_that_make_no_sense_are_refused(self, url: str, orders: object) -> None:
        assert httpx.post(f"{url}/control", json=orders, trust_env=False).status_code == 400

    @pytest.mark.parametrize(
        ("method", "path"), [("GET", "/control/requests"), ("POST", "/control"), ("DELETE", "/control")]
    )
    def test_another_hosts_name_gets_nowhere(self, url: str, method: str, path: str) -> None:
        response = httpx.request(method, url + path, headers={"host": "evil.example"}, trust_env=False)

        assert response.status_code == 404

    def test_a_form_of_a_foreign_page_gets_nowhere(self, url: str) -> None:
        response = httpx.post(f"{url}/control", content='{"next": []}', headers={"content-type": "text/plain"})

        assert response.status_code == 415


def order(url: str, *instructions: dict[str, object]) -> None:
    httpx.post(f"{url}/control", json={"next": instructions}, trust_env=False).raise_for_status()
