"""Cursors: positions are read back, and all other texts are rejected."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fencepost.kernel.errors import FencepostError
from fencepost.kernel.paging import read_cursor, write_cursor

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
LIST = ("acme", "visitor:ann", "messages", "c1", "asc")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
lists = st.lists(texts, max_size=5)


@given(lists, texts)
def test_a_position_comes_back(listing: list[str], position: str) -> None:
    assert read_cursor([OTHER_KEY, KEY], listing, write_cursor(KEY, listing, position)) == position


@given(lists, lists, texts)
def test_a_cursor_of_another_list_is_none(listing: list[str], other: list[str], position: str) -> None:
    cursor = write_cursor(KEY, listing, position)
    if other != listing:
        with pytest.raises(FencepostError, match="cursor_invalid"):
            read_cursor([KEY], other, cursor)


def test_a_forgotten_key_ends_its_cursors() -> None:
    with pytest.raises(FencepostError, match="cursor_invalid"):
        read_cursor([OTHER_KEY], LIST, write_cursor(KEY, LIST, "7"))


@given(st.integers(0, 10_000), st.sampled_from("Aa0_-=+/. é\x00"))
@example(15, "+")
def test_a_changed_cursor_is_none(place: int, sign: str) -> None:
    cursor = write_cursor(KEY, LIST, "a length that leaves no bit of its last sign unused!")
    changed = cursor[: place % len(cursor)] + sign + cursor[place % len(cursor) + 1 :]
    if changed != cursor:
        with pytest.raises(FencepostError, match="cursor_invalid"):
            read_cursor([KEY], LIST, changed)


@given(st.text(max_size=100))
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(FencepostError, match="cursor_invalid"):
        read_cursor([KEY], LIST, text)


def test_a_cursor_can_stand_in_an_address() -> None:
    cursor = write_cursor(KEY, LIST, "\u00ff\u00fe|>?" * 20)
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert cursor.isascii()
