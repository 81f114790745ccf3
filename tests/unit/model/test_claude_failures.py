"""The model's adapter when the provider fails: the code, the cost, the deadline, and what never leaks."""

from __future__ import annotations

import json
import logging
import socket
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.money import Usage
from fencepost.model.anthropic.errors import DEFAULT_RETRY_SECONDS, MAX_RETRY_SECONDS
from tests.doubles.stand_in import StandIn
from tests.unit.model.claude_calls import PROMPT, KeyRing, failure, model_at

OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
_POLL_SECONDS = 0.01
"""How long a server takes to see that it is to end; half a second by itself."""


class TestFailures:
    """What the port promises: a code, and the usage where it is known."""

    @pytest.mark.parametrize(("status", "refreshed"), [(401, 1), (403, 1), (429, 0), (500, 0)])
    def test_a_refused_key_is_read_anew(self, stand_in: StandIn, status: int, refreshed: int) -> None:
        keys = KeyRing()
        stand_in.order({"status": status})
        failure(model_at(stand_in.url, keys=keys))
        assert keys.refreshed == refreshed

    @pytest.mark.parametrize(
        ("status", "code", "usage"),
        [
            (307, ErrorCode.PROVIDER_REJECTED, Usage()),
            (400, ErrorCode.PROVIDER_REJECTED, Usage()),
            (401, ErrorCode.PROVIDER_REJECTED, Usage()),
            (402, ErrorCode.PROVIDER_REJECTED, Usage()),
            (403, ErrorCode.PROVIDER_REJECTED, Usage()),
            (404, ErrorCode.PROVIDER_REJECTED, Usage()),
            (408, ErrorCode.PROVIDER_TIMEOUT, None),
            (409, ErrorCode.PROVIDER_REJECTED, Usage()),
            (413, ErrorCode.PROVIDER_CONTEXT_OVERFLOW, Usage()),
            (418, ErrorCode.PROVIDER_REJECTED, Usage()),
            (429, ErrorCode.PROVIDER_OVERLOADED, Usage()),
            (500, ErrorCode.PROVIDER_FAILED, None),
            (502, ErrorCode.PROVIDER_FAILED, None),
            (503, ErrorCode.PROVIDER_FAILED, None),
            (504, ErrorCode.PROVIDER_TIMEOUT, None),
            (529, ErrorCode.PROVIDER_OVERLOADED, Usage()),
        ],
    )
    def test_error_statuses(self, stand_in: StandIn, status: int, code: ErrorCode, usage: Usage | None) -> None:
        location = {"location": f"{stand_in.url}/v1/messages"}
        stand_in.order({"status": status, "headers": location})
        error = failure(model_at(stand_in.url))

        assert (error.code, error.usage) == (code, usage)
        assert stand_in.calls() == 1

    @pytest.mark.parametrize(
        ("header", "seconds"),
        [
            ("7", 7),
            ("0", 1),
            ("99999", MAX_RETRY_SECONDS),
            ("9" * 5_000, DEFAULT_RETRY_SECONDS),
            ("soon", DEFAULT_RETRY_SECONDS),
            ("-3", DEFAULT_RETRY_SECONDS),
            ("Wed, 21 Oct 2026 07:28:00 GMT", DEFAULT_RETRY_SECONDS),
            (None, DEFAULT_RETRY_SECONDS),
        ],
    )
    def test_retry_after_is_passed_on_within_bounds(self, stand_in: StandIn, header: str | None, seconds: int) -> None:
        stand_in.order({"status": 429, "headers": {"retry-after": header} if header else {}})

        assert failure(model_at(stand_in.url)).retry_after == seconds

    @pytest.mark.parametrize(
        ("kind", "code"),
        [
            ("overloaded_error", ErrorCode.PROVIDER_OVERLOADED),
            ("rate_limit_error", ErrorCode.PROVIDER_OVERLOADED),
            ("timeout_error", ErrorCode.PROVIDER_TIMEOUT),
            ("api_error", ErrorCode.PROVIDER_FAILED),
            ("invalid_request_error", ErrorCode.PROVIDER_REJECTED),
            ("an_error_of_the_future", ErrorCode.PROVIDER_FAILED),
        ],
    )
    def test_an_error_in_mid_stream_is_of_unknown_cost(self, stand_in: StandIn, kind: str, code: ErrorCode) -> None:
        stand_in.order({"fault": "error", "error": kind})
        error = failure(model_at(stand_in.url))

        assert (error.code, error.usage) == (code, None)
        assert stand_in.calls() == 1

    @pytest.mark.parametrize("fault", ["cut", "garbage"])
    def test_a_stream_that_breaks_is_of_unknown_cost(self, stand_in: StandIn, fault: str) -> None:
        stand_in.order({"fault": fault})
        error = failure(model_at(stand_in.url))

        assert (error.code, error.usage) == (ErrorCode.PROVIDER_FAILED, None)
        assert stand_in.calls() == 1

    @pytest.mark.parametrize(
        ("stop_reason", "code"),
        [
            ("refusal", ErrorCode.PROVIDER_REFUSED),
            ("max_tokens", ErrorCode.PROVIDER_TRUNCATED),
            ("model_context_window_exceeded", ErrorCode.PROVIDER_CONTEXT_OVERFLOW),
        ],
    )
    def test_an_answer_that_stopped_badly_has_its_usage(
        self, stand_in: StandIn, stop_reason: str, code: ErrorCode
    ) -> None:
        stand_in.order({"stop_reason": stop_reason, "text": "Half an ans"})
        error = failure(model_at(stand_in.url))

        assert error.code is code
        assert error.usage is not None
        assert error.usage.output_tokens == 4
        assert error.usage.cache_write_tokens > 900

    @pytest.mark.parametrize("text", ["", " \n\t"])
    def test_an_empty_answer_has_its_usage(self, stand_in: StandIn, text: str) -> None:
        stand_in.order({"text": text})
        error = failure(model_at(stand_in.url))

        assert error.code is ErrorCode.PROVIDER_FAILED
        assert error.usage is not None
        assert error.usage.output_tokens == 1

    def test_a_prompt_beyond_the_window_overflows(self, stand_in: StandIn) -> None:
        stand_in.order({"status": 400, "message": "prompt is too long: 1200000 tokens > 1000000 maximum"})
        error = failure(model_at(stand_in.url))

        assert (error.code, error.usage) == (ErrorCode.PROVIDER_CONTEXT_OVERFLOW, Usage())


class TestConnection:
    def test_a_refused_connection_costs_nothing(self) -> None:
        error = failure(model_at(f"http://127.0.0.1:{_closed_port()}"))

        assert (error.code, error.usage) == (ErrorCode.PROVIDER_FAILED, Usage())

    def test_a_handshake_that_never_ends_costs_nothing(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"https://127.0.0.1:{silent.getsockname()[1]}"
            error = failure(model_at(url, connect_seconds=0.3))

        assert (error.code, error.usage) == (ErrorCode.PROVIDER_TIMEOUT, Usage())

    def test_a_server_that_does_not_speak_tls_costs_nothing(self, stand_in: StandIn) -> None:
        error = failure(model_at(stand_in.url.replace("http://", "https://")))

        assert (error.code, error.usage) == (ErrorCode.PROVIDER_FAILED, Usage())
        assert stand_in.calls() == 0

    @pytest.mark.parametrize(
        "answer",
        [
            b"",
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n",
            b"GARBAGE GARBAGE\r\n\r\n",
            OK + b"\r\n",
            OK + b"content-length: 9\r\n\r\n<p>Hi</p>",
            OK + b"\r\nevent: message_start\ndata: {}\n\n",
            OK + b"\r\nevent: message_start\ndata: [1]\n\n",
            OK + b'\r\nevent: message_start\ndata: {"type": "message_start"}\n\n',
            OK + b'\r\nevent: message_start\ndata: {"type": "message_start", "message": {"usage": 7}}\n\n',
            OK + b'\r\nevent: message_delta\ndata: {"type": "message_delta", "usage": {"output_tokens": "x"}}\n\n',
            OK + b'\r\nevent: content_block_delta\ndata: {"type": "content_block_delta"}\n\n',
        ],
    )
    def test_what_is_no_answer_is_of_unknown_cost(self, answer: bytes) -> None:
        with _answering(answer) as url:
            error = failure(model_at(url))

        assert (error.code, error.usage) == (ErrorCode.PROVIDER_FAILED, None)

    @pytest.mark.parametrize(
        "usage",
        ["{}", "null", '{"input_tokens": -10000000, "output_tokens": 1}', '{"output_tokens": 1}'],
        ids=["empty", "none", "negative", "no input"],
    )
    def test_an_answer_whose_usage_cannot_be_true_is_of_unknown_cost(self, usage: str) -> None:
        with _answering(_stream(usage)) as url:
            answer = model_at(url).complete(PROMPT)

        assert (answer.text, answer.usage) == ("Yes.", None)

    @pytest.mark.parametrize("key", ["key\n", "key\x00", "k\ud800"])
    def test_a_request_that_cannot_be_written_costs_nothing(self, stand_in: StandIn, key: str) -> None:
        error = failure(model_at(stand_in.url, keys=KeyRing(key)))

        assert (error.code, error.usage) == (ErrorCode.PROVIDER_FAILED, Usage())
        assert stand_in.calls() == 0


class TestDeadline:
    """Each of these would take a minute or for ever; the deadline ends it."""

    @pytest.mark.parametrize(
        "instruction",
        [{"delay": 60.0}, {"fault": "stall"}, {"pace": 0.2, "text": "drip " * 1_000}],
        ids=["nothing comes", "stall in mid-stream", "slow drip"],
    )
    def test_the_total_deadline_holds(self, stand_in: StandIn, instruction: dict[str, object]) -> None:
        stand_in.order(instruction)
        error = failure(model_at(stand_in.url, seconds=1.0))

        assert (error.code, error.usage) == (ErrorCode.PROVIDER_TIMEOUT, None)
        assert stand_in.calls() == 1

    def test_a_spent_deadline_sends_nothing(self, stand_in: StandIn) -> None:
        error = failure(model_at(stand_in.url, seconds=-1.0))

        assert error.code is ErrorCode.PROVIDER_TIMEOUT
        assert stand_in.calls() == 0


class TestSecrecy:
    CANARY = "canary-7f3a"

    @pytest.mark.parametrize(
        "instruction",
        [{"status": 400}, {"status": 500}, {"fault": "error"}, {"stop_reason": "refusal"}, {"fault": "garbage"}],
    )
    def test_no_error_and_no_log_carries_the_providers_text(
        self, stand_in: StandIn, caplog: pytest.LogCaptureFixture, instruction: dict[str, object]
    ) -> None:
        stand_in.order({"message": self.CANARY, "text": self.CANARY * 9} | instruction)
        with caplog.at_level(logging.DEBUG):
            error = failure(model_at(stand_in.url))

        assert self.CANARY not in "".join(traceback.format_exception(error))
        assert (error.__context__, error.__cause__) == (None, None)
        assert self.CANARY not in caplog.text

    def test_no_log_carries_prompt_or_key(self, stand_in: StandIn, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.DEBUG):
            model_at(stand_in.url, keys=KeyRing(self.CANARY)).complete(PROMPT)

        assert self.CANARY not in caplog.text
        assert "Install the agent" not in caplog.text


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _stream(usage: str) -> bytes:
    """Return a whole answer, whose first event reports this usage."""
    events = (
        f'{{"type": "message_start", "message": {{"usage": {usage}}}}}',
        '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes."}}',
        '{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}',
        '{"type": "message_stop"}',
    )
    return (
        OK + b"\r\n" + b"".join(f"event: {json.loads(event)['type']}\ndata: {event}\n\n".encode() for event in events)
    )


@contextmanager
def _answering(data: bytes) -> Iterator[str]:
    """Answer any request with `data`, byte for byte, and close."""

    class Raw(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.wfile.write(data)
            self.close_connection = True

    with ThreadingHTTPServer(("127.0.0.1", 0), Raw) as listener:
        threading.Thread(target=listener.serve_forever, args=[_POLL_SECONDS], daemon=True).start()
        yield f"http://127.0.0.1:{listener.server_port}"
        listener.shutdown()
