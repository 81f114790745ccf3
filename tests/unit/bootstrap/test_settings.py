"""A mistyped variable stops the start, with a message that names it; it never becomes another value."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.identity.domain.sites import CONTEXT_TOKENS, Origin
from fencepost.kernel.input_limits import MAX_MESSAGE_CHARACTERS
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.requests import Counter, RateLimits
from fencepost.model.domain import BLOCK_TOKENS, REQUEST_TOKENS, TURN_TOKENS, count_tokens
from fencepost.settings import InvalidSettings, Settings, load_settings
from fencepost.turns.domain.system_prompt import SYSTEM_PROMPT


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    settings = load_settings({})
    assert settings.caps == Caps(calls=1_000, spend=MicroDollars(5_000_000))
    assert settings.rate_limits.per_minute == 10
    assert settings.rate_limits.per_day == 100
    assert settings.other_rate_limits == RateLimits(120, 5_000, Counter.OTHER)
    assert settings.allowed_origins == ()
    assert not settings.demo_mode


def test_every_variable_is_read_under_its_own_name() -> None:
    settings = load_settings(
        {
            "FENCEPOST_ALLOWED_ORIGINS": "https://shop.example, http://127.0.0.1:8787",
            "FENCEPOST_DAILY_CALL_LIMIT": "7",
            "FENCEPOST_DAILY_SPEND_LIMIT_USD": "0.000001",
            "FENCEPOST_DEMO_MODE": "true",
            "DOCS_SITE_URL": "https://docs.example/guide",
        }
    )
    assert settings.allowed_origins == (Origin("https", "shop.example", 443), Origin("http", "127.0.0.1", 8787))
    assert settings.caps == Caps(calls=7, spend=MicroDollars(1))
    assert settings.demo_mode
    assert settings.docs_site_url == "https://docs.example/guide"


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("RATE_LIMIT_PER_MINUTE", "1e3", "a whole number"),
        ("RATE_LIMIT_PER_MINUTE", "", "a whole number"),
        ("RATE_LIMIT_PER_MINUTE", " 10", "a whole number"),
        ("RATE_LIMIT_PER_MINUTE", "1_000", "a whole number"),
        ("RATE_LIMIT_PER_MINUTE", "１０", "a whole number"),
        ("RATE_LIMIT_PER_MINUTE", "0", "greater than or equal to 1"),
        ("RATE_LIMIT_PER_DAY", "-1", "a whole number"),
        ("FENCEPOST_DAILY_CALL_LIMIT", "unlimited", "a whole number"),
        ("FENCEPOST_DAILY_SPEND_LIMIT_USD", "1000001", "less than or equal to 1000000"),
        *(
            ("FENCEPOST_DAILY_SPEND_LIMIT_USD", odd, "dollars in digits with up to six decimals, such as 5 or 0.25")
            for odd in (
                *("", " 5", "5 ", "5\n", "$5", "+5", "-1", "007", "00.5", ".5", "5.", "1_0", "1E2", "1e2", "1,000"),
                *("0.0000001", "12345678", "NaN", "Infinity", "５", "٥"),
            )
        ),
        ("FENCEPOST_DEMO_MODE", "yes", "true or false"),
        ("FENCEPOST_DEMO_MODE", "True", "true or false"),
        ("FENCEPOST_ALLOWED_ORIGINS", "https://a.example,*", "origins such as https://shop.example"),
        ("FENCEPOST_ALLOWED_ORIGINS", "null", "origin"),
        ("FENCEPOST_ALLOWED_ORIGINS", "https://a.example/", "origin"),
        ("FENCEPOST_ALLOWED_ORIGINS", "https://*.example", "origin"),
        ("FENCEPOST_MODEL", "claude-imaginary", "known are"),
        ("FENCEPOST_UNSIGNED_HISTORY", "maybe", "'accept', 'mark' or 'refuse'"),
        *(
            (variable, odd, "an http(s) address such as https://docs.example.com is needed")
            for variable in ("ANTHROPIC_BASE_URL", "DOCS_SITE_URL")
            for odd in (
                *("ftp://docs.example", "docs.example", "https://", "https://:80", "https://user:pw@docs.example"),
                *("https://docs.example:0", "https://docs.example:65536", "https://docs.example:http"),
                *(
                    "https://docs.example:",
                    "https://docs.example:-1",
                    "https://docs.example?a",
                    "https://docs.example#a",
                ),
                *("http://[::1", "http://::1]", "http://[::1]x", "http://[12345::]", "http://[docs.example]"),
                *("https://docs.example\n", " https://docs.example"),
            )
        ),
        ("FENCEPOST_PROVIDER_TIMEOUT_SECONDS", "60", "less than or equal to 25"),
    ],
)
def test_a_wrong_value_stops_the_start_and_is_named(variable: str, value: str, says: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        load_settings({variable: value})
    assert variable in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://docs.example",
        "http://127.0.0.1:8787/guide",
        "http://[::1]:1",
        "http://[2001:db8::1]/",
        "https://a:65535",
    ],
)
def test_addresses_with_ports_and_of_both_families_are_read(address: str) -> None:
    settings = load_settings({"DOCS_SITE_URL": address, "ANTHROPIC_BASE_URL": address})
    assert (settings.docs_site_url, settings.base_url) == (address, address)


@pytest.mark.parametrize(
    ("text", "micro_dollars"), [("0", 0), ("0.5", 500_000), ("5.0", 5_000_000), ("1000000", 10**12)]
)
def test_plain_amounts_are_read(text: str, micro_dollars: int) -> None:
    assert load_settings({"FENCEPOST_DAILY_SPEND_LIMIT_USD": text}).caps.spend == micro_dollars


def test_variables_have_no_second_name() -> None:
    assert load_settings(dict.fromkeys(Settings.model_fields, "1")) == load_settings({})


def test_all_wrong_variables_are_named_at_once_and_no_value_is_shown() -> None:
    with pytest.raises(InvalidSettings) as caught:
        load_settings({"RATE_LIMIT_PER_DAY": "hunter2", "FENCEPOST_MODEL": "hunter2"})
    assert "RATE_LIMIT_PER_DAY" in str(caught.value)
    assert "FENCEPOST_MODEL" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_the_key_does_not_show_in_a_representation() -> None:
    assert "s3cret" not in repr(load_settings({"ANTHROPIC_API_KEY": "s3cret"}))


def test_each_field_has_a_variable_and_a_description() -> None:
    for name, field in Settings.model_fields.items():
        assert (field.alias or "").isupper(), name
        assert (field.description or "").endswith("."), name


@given(st.decimals(min_value=0, max_value=1_000_000, places=6))
def test_dollars_become_micro_dollars_without_rounding(amount: Decimal) -> None:
    settings = load_settings({"FENCEPOST_DAILY_SPEND_LIMIT_USD": format(amount, "f")})
    assert settings.caps.spend == amount * 1_000_000


WIDEST = {
    "FENCEPOST_DOCUMENTS_TOKENS": 110_000,
    "FENCEPOST_HISTORY_TOKENS": 32_000,
    "FENCEPOST_MAX_OUTPUT_TOKENS": 32_000,
}


def test_the_widest_budgets_fit_the_context_window_together() -> None:
    load_settings({name: str(value) for name, value in WIDEST.items()})
    longest_message = MAX_MESSAGE_CHARACTERS * count_tokens("\U0001f600")
    fixed = REQUEST_TOKENS + TURN_TOKENS + 3 * BLOCK_TOKENS + count_tokens(SYSTEM_PROMPT) + longest_message
    assert sum(WIDEST.values()) + fixed <= CONTEXT_TOKENS


@pytest.mark.parametrize("name", WIDEST)
def test_a_wider_budget_is_refused_and_not_cut(name: str) -> None:
    with pytest.raises(InvalidSettings, match=name):
        load_settings({name: str(WIDEST[name] + 1)})
