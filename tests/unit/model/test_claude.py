"""The model's adapter: the real SDK against the stand-in, over loopback."""

from __future__ import annotations

import threading

import pytest

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.model.anthropic import claude
from local.provider import create_app
from tests.doubles.servers import serve
from tests.doubles.stand_in import StandIn
from tests.unit.model.claude_calls import PROMPT, KeyRing, failure, model_at


class TestAnswer:
    def test_text_usage_and_first_token_come_from_the_stream(self, stand_in: StandIn) -> None:
        answer = model_at(stand_in.url).complete(PROMPT)

        assert answer.usage is not None
        assert "[doc:guide/install#1]" in answer.text
        assert answer.usage.cache_write_tokens > 900
        assert answer.usage.cache_read_tokens == 0
        assert 0 < answer.usage.input_tokens < 50
        assert answer.usage.output_tokens > 1
        assert answer.first_token_seconds > 0

    def test_the_second_call_reads_the_cache(self, stand_in: StandIn) -> None:
        model = model_at(stand_in.url)
        first, second = model.complete(PROMPT).usage, model.complete(PROMPT).usage

        assert first is not None
        assert second is not None
        assert second.cache_read_tokens == first.cache_write_tokens
        assert (second.cache_write_tokens, second.input_tokens) == (0, first.input_tokens)

    def test_one_completion_is_one_request(self, stand_in: StandIn) -> None:
        model_at(stand_in.url).complete(PROMPT)

        assert stand_in.calls() == 1

    def test_unknown_events_and_stop_reasons_do_no_harm(self, stand_in: StandIn) -> None:
        stand_in.order({"fault": "unknown_events", "text": "Still a whole answer.", "stop_reason": "nirvana"})

        assert model_at(stand_in.url).complete(PROMPT).text == "Still a whole answer."

    def test_threads_share_one_model(self, stand_in: StandIn) -> None:
        model, answers = model_at(stand_in.url), list[str]()
        threads = [threading.Thread(target=lambda: answers.append(model.complete(PROMPT).text)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(answers) == stand_in.calls() == 8


class TestRequest:
    def test_prompt_is_mapped_block_by_block(self, stand_in: StandIn) -> None:
        model_at(stand_in.url).complete(PROMPT)
        body = stand_in.body()

        assert body["max_tokens"] == 500
        assert [block.get("cache_control") for block in body["system"]] == [None, {"type": "ephemeral"}]
        assert body["system"][0]["text"] == "Answer from the documents."
        assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
        assert body["messages"][2]["content"] == [
            {"type": "text", "text": "Earlier context", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "How do I install the agent?"},
        ]

    def test_nothing_else_is_sent(self, stand_in: StandIn) -> None:
        model_at(stand_in.url, model="claude-haiku-4-5").complete(PROMPT)

        assert set(stand_in.body()) == {"model", "max_tokens", "system", "messages", "stream"}

    @pytest.mark.parametrize(
        ("model", "thinking", "effort"),
        [
            ("claude-haiku-5-5", {"type": "disabled"}, None),
            ("claude-opus-5", {"type": "disabled"}, None),
            ("claude-sonnet-5-5", {"type": "between_tools"}, None),
            ("claude-opus-5-5", None, {"effort": "low"}),
        ],
    )
    def test_models_that_think_unasked_are_told_to_think_least(
        self, stand_in: StandIn, model: str, thinking: dict[str, str] | None, effort: dict[str, str] | None
    ) -> None:
        model_at(stand_in.url, model=model).complete(PROMPT)

        assert stand_in.body().get("thinking") == thinking
        assert stand_in.body().get("output_config") == effort


class TestKeyAndEndpoint:
    def test_a_rotated_key_is_followed(self) -> None:
        keys = KeyRing("old")
        with serve(create_app(api_key="new")) as url:
            model = model_at(url, keys=keys)
            assert failure(model).code is ErrorCode.PROVIDER_REJECTED
            keys.key = "new"
            assert model.complete(PROMPT).text

        assert keys.asked == 2

    def test_a_missing_key_is_the_keys_own_error(self, stand_in: StandIn) -> None:
        class NoKey(KeyRing):
            def provider_key(self) -> str:
                raise FencepostError(ErrorCode.MISCONFIGURED)

        with pytest.raises(FencepostError) as raised:
            model_at(stand_in.url, keys=NoKey()).complete(PROMPT)
        assert raised.value.code is ErrorCode.MISCONFIGURED
        assert stand_in.calls() == 0

    def test_the_environment_decides_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
            monkeypatch.setenv(name, "from-the-environment")
        for name in ("ANTHROPIC_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        with serve(create_app(api_key="ours")) as url:
            assert model_at(url, keys=KeyRing("ours")).complete(PROMPT).text

    @pytest.mark.parametrize("surroundings", ["", "http://127.0.0.1:1"])
    def test_without_a_base_url_the_providers_own_is_called(
        self, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, surroundings: str
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", surroundings)
        monkeypatch.setattr(claude, "ENDPOINT", stand_in.url)

        assert model_at("").complete(PROMPT).text
