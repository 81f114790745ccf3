"""Lines and their sources, as models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.prompting.domain.citations import MAX_LINE_CHARACTERS, SourcedLine, sourced_lines

MESSAGES = {1: "q1", 2: "q1.1", 3: "q3"}
FACTS = {1: "f1"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- One. [msg:1]", SourcedLine("One.", ("q1",))),
        ("* Two. [msg:1][msg:2]", SourcedLine("Two.", ("q1", "q1.1"))),
        ("3. Three. [msg:1, msg:3]", SourcedLine("Three.", ("q1", "q3"))),
        ("Four [msg:1; 2].", SourcedLine("Four.", ("q1", "q1.1"))),
        ("・五。【msg:3】", SourcedLine("五。", ("q3",))),
        ("- Six. [ msg: 1 ]", SourcedLine("Six.", ("q1",))),
        ("- Seven. [msg:1] [msg:1]", SourcedLine("Seven.", ("q1",))),
        ("- Eight. [msg:1] [msg:77]", SourcedLine("Eight.", ("q1",))),
        ("- Nine. [msg:3] [fact:1] [fact:2]", SourcedLine("Nine.", ("q3",), ("f1",))),
        ("- Ten. [fact:1]", None),
        ("- Eleven. [msg:77]", None),
        ("- Twelve. [msg:q1]", None),
        ("- Thirteen. msg:1", None),
        ("- [msg:1]", None),
        (f"- {'x' * (MAX_LINE_CHARACTERS + 1)} [msg:1]", None),
        ("# Notes", None),
        ("", None),
    ],
)
def test_a_line_is_kept_with_the_messages_that_it_names(line: str, expected: SourcedLine | None) -> None:
    assert list(sourced_lines(line, MESSAGES, FACTS)) == ([expected] if expected else [])


@given(st.text())
def test_whatever_is_written_each_line_rests_on_known_messages(text: str) -> None:
    for line in sourced_lines(text, MESSAGES, FACTS):
        assert line.messages
        assert set(line.messages) <= set(MESSAGES.values())
        assert set(line.facts) <= set(FACTS.values())
        assert 0 < len(line.text) <= MAX_LINE_CHARACTERS
        assert line.text == " ".join(line.text.split())


@given(st.lists(st.tuples(st.from_regex(r"[a-z]{1,9}", fullmatch=True), st.sampled_from([1, 2, 3])), max_size=9))
def test_order_is_kept(lines: list[tuple[str, int]]) -> None:
    text = "\n".join(f"- {word} [msg:{number}]" for word, number in lines)
    assert [(line.text, line.messages) for line in sourced_lines(text, MESSAGES)] == [
        (word, (MESSAGES[number],)) for word, number in lines
    ]


def test_a_line_of_brackets_takes_no_time_to_speak_of() -> None:
    assert not list(sourced_lines("[msg:" * 50_000, MESSAGES))
    assert not list(sourced_lines("- x " + " " * 50_000 + "[", MESSAGES))
