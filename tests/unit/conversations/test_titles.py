"""Titles: the first words of a message, on one line, never torn."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.conversations.domain.messages import MAX_CHARACTERS, title_of


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("How do I install it?", "How do I install it?"),
        ("  two\nlines \t and spaces ", "two lines and spaces"),
        ("# Help\n- with `this`\n> please", "Help with this please"),
        ("***", "***"),
        (
            "What is the fastest way to move a very large database to another region?",
            "What is the fastest way to move a very large database to…",
        ),
        ("word " * 11 + "words, and more", "word " * 10 + "word…"),
        ("設定方法を教えてください。" * 6, ("設定方法を教えてください。" * 6)[:59] + "…"),
        ("안녕하세요 " * 20, ("안녕하세요 " * 20)[:59].rstrip() + "…"),
    ],
)
def test_a_title_is_the_beginning(message: str, title: str) -> None:
    assert title_of(message) == title


@given(st.text(min_size=1, max_size=300))
def test_a_title_is_one_line_of_bounded_length_and_made_of_the_message(message: str) -> None:
    title = title_of(message)
    assert len(title) <= MAX_CHARACTERS
    assert title == " ".join(title.split())
    assert bool(title) == bool(message.split())
    assert set(title.removesuffix("…")) <= {*message, " "}


@pytest.mark.parametrize(
    "character", ["e\u0301", "👩\u200d👧", "👍\U0001f3fd", "🇫🇷", "क्\u200dष", "\U0001f3f4\U000e0067\U000e0062\U000e007f"]
)
@given(before=st.integers(min_value=50, max_value=60))
def test_what_a_reader_sees_as_one_character_is_not_torn(character: str, before: int) -> None:
    title = title_of("x" * before + character * 20)
    left = title.removesuffix("…").lstrip("x")
    assert left == character * (len(left) // len(character))


@given(st.text("字漢 a", min_size=61, max_size=200))
def test_a_cut_title_says_so(message: str) -> None:
    line = " ".join(message.split())
    assert title_of(message).endswith("…") == (len(line) > MAX_CHARACTERS)


@given(st.text("ab ", min_size=80, max_size=200))
def test_words_stay_whole_where_there_are_some(message: str) -> None:
    words = message.split()
    if any(len(word) > 15 for word in words) or len(" ".join(words)) <= MAX_CHARACTERS:
        return
    assert title_of(message).removesuffix("…").split() == words[: len(title_of(message).split())]


def test_no_title_begins_or_ends_with_a_mark() -> None:
    title = title_of("x" * 58 + "\u0301" * 10)
    assert not unicodedata.combining(title[0])
    assert title == "x" * 57 + "…"
