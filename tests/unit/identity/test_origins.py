"""Origins are compared as browsers compare them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.identity.domain.sites import parse_origin


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://A.Example", "https://a.example"),
        ("https://a.example:443", "https://a.example"),
        ("http://a.example:80", "http://a.example"),
        ("http://[::1]:8787", "http://[::1]:8787"),
    ],
)
def test_the_same_origin(one: str, other: str) -> None:
    assert parse_origin(one) == parse_origin(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example", "https://a.example.evil.test"),
        ("https://a.example", "http://a.example"),
        ("https://a.example", "https://a.example:8443"),
        ("https://a.example", "https://a.example."),
        ("https://a.example", "https://www.a.example"),
        ("http://localhost:8787", "http://127.0.0.1:8787"),
    ],
)
def test_another_origin(one: str, other: str) -> None:
    assert parse_origin(one) != parse_origin(other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "*",
        "a.example",
        "//a.example",
        "https://",
        "https://a.example/",
        "https://a.example/path",
        "https://a.example?x",
        "https://a.example#x",
        "https://user@a.example",
        "https://a.example:0x50",
        "https://a.example:99999",
        "https://a.example:",
        "https://a.example b.example",
        "https://a.example,https://b.example",
        "https://a..example\n",
        "file://",
        "chrome-extension://abcdef",
        "https://ä.example",
    ],
)
def test_not_an_origin(text: str) -> None:
    with pytest.raises(ValueError, match="not an origin"):
        parse_origin(text)


@given(st.text())
def test_any_text_is_an_origin_or_a_value_error(text: str) -> None:
    try:
        origin = parse_origin(text)
    except ValueError:
        return
    assert origin == parse_origin(text.lower())
