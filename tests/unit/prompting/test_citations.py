"""Citations: numbers for what stood in the prompt, nothing for what did not, and never a link from the model."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.model.domain import Source
from fencepost.prompting.domain.citations import resolve, without_markers

FACT = Source("fact:f1", "Likes tea", "")
QUESTION = Source("msg:q1", "Wants refunds", "")
REPLY = Source("msg:q1.1", "Wants refunds", "")
FILE = Source("file:9", "notes.txt", "")
SUMMARY = Source("summary:s1", "Wants refunds", "")
MEMORY = (FACT, QUESTION, REPLY, FILE, SUMMARY)
A = Source("guide/install#1", "Install", "https://docs.example/install")
B = Source("api#2.1", "API › Keys", "https://docs.example/api#keys")
SOURCES = (A, B)


@pytest.mark.parametrize(
    ("text", "expected", "cited"),
    [
        ("Run it [doc:guide/install#1].", "Run it [1].", (A,)),
        ("B [doc:api#2.1]. A [doc:guide/install#1]. B [doc:api#2.1].", "B [1]. A [2]. B [1].", (B, A)),
        ("Both [doc:api#2.1][doc:guide/install#1].", "Both [1][2].", (B, A)),
        ("Both [doc:api#2.1, doc:guide/install#1; api#2.1].", "Both [1][2].", (B, A)),
        ("両方【doc:api#2.1】。", "両方[1]。", (B,)),
        ("Spaced [doc: api#2.1 ].", "Spaced [1].", (B,)),
        ("Made up [doc:guide/nowhere#9].", "Made up.", ()),
        ("Half [doc:guide/nowhere#9, api#2.1].", "Half [1].", (B,)),
        ("Cut off [doc:guide/ins", "Cut off", ()),
        ("Nothing cited.", "Nothing cited.", ()),
        ("Code `x[doc:api#2.1]` stays.", "Code `x[doc:api#2.1]` stays.", ()),
        ("``a ` [doc:api#2.1]`` stays", "``a ` [doc:api#2.1]`` stays", ()),
        ("```\n[doc:api#2.1]\n```\nYes [doc:api#2.1]", "```\n[doc:api#2.1]\n```\nYes [1]", (B,)),
        ("A lone ` tick [doc:api#2.1]\n\nand ` another", "A lone ` tick [1]\n\nand ` another", (B,)),
    ],
)
def test_markers_become_numbers_in_order_of_citation(text: str, expected: str, cited: tuple[Source, ...]) -> None:
    assert resolve(text, SOURCES) == (expected, cited)


@pytest.mark.parametrize(
    ("text", "expected", "cited"),
    [
        ("Tea [fact:f1]. Run it [doc:api#2.1].", "Tea [1]. Run it [2].", (FACT, B)),
        ("Refunds [msg:q1, msg:q1.1].", "Refunds [1][2].", (QUESTION, REPLY)),
        ("Refunds [msg:q1, q1.1; doc:api#2.1].", "Refunds [1][2][3].", (QUESTION, REPLY, B)),
        ("Yours [file:9], in short [summary:s1].", "Yours [1], in short [2].", (FILE, SUMMARY)),
        ("Made up [fact:f2] [msg:q2] [file:1] [summary:s2].", "Made up.", ()),
        ("Of another kind [fact:q1] [doc:f1] [msg:api#2.1].", "Of another kind.", ()),
        ("Cut off [fact:f", "Cut off", ()),
    ],
)
def test_memory_and_files_are_cited_like_sections(text: str, expected: str, cited: tuple[Source, ...]) -> None:
    assert resolve(text, (*SOURCES, *MEMORY)) == (expected, cited)


@pytest.mark.parametrize("source", MEMORY)
def test_what_is_no_section_has_no_address_whatever_its_row_says(source: Source) -> None:
    _, (cited,) = resolve(f"[{source.id}]", [replace(source, url="https://a.example/")])
    assert cited == source


def test_markers_are_removed_from_what_may_not_cite() -> None:
    assert without_markers("Tea [fact:f1], or 【doc:x, msg:y】 not [1].") == "Tea, or not [1]."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a [doc:x[doc:y]] b", "a b"),
        ("a [msg:x [fact:y]] b", "a b"),
        ("a [do[doc:x]c:y] b", "a b"),
        ("a 【msg:[msg:[msg:x]y]z] b", "a b"),
        ("a [1[doc:x]] b]", "a [1] b]"),
        ("a [doc:x\n[doc:y]] b", "a [doc:x\n] b"),
    ],
)
def test_no_marker_comes_about_where_one_was_removed(text: str, left: str) -> None:
    assert without_markers(text) == left
    assert resolve(text, ()) == (left, ())


@given(pieces=st.lists(st.sampled_from(["[", "]", "【", "doc:", "ms", "g:", "x", " ", "[msg:y]", "\n"]), max_size=30))
def test_nothing_that_is_left_reads_as_a_marker(pieces: list[str]) -> None:
    left = without_markers("".join(pieces))
    assert not re.search(r"[\[【] ?(doc|msg):[^\[\]【】\n]+[\]】]", left)


@pytest.mark.parametrize(
    "text",
    [
        "[doc:api#2.1](javascript:alert(1))",
        "[fact:f1](javascript:alert(1))",
        "[fact:f1][fact:nowhere](javascript:alert(1))",
        "[fact:f1] [fact:no][doc:where](javascript:alert(1))",
        "[fact:f1][doc:no[doc:where]](javascript:alert(1))",
        "[fact:f1][note]\n\n[note]: javascript:alert(1)",
        "[fact:f1][doc:nowhere][note]\n\n[note]: javascript:alert(1)",
        "[1]: javascript:alert(1)\nSee [doc:api#2.1].",
        "See [doc:api#2.1].\n\n> [1]: javascript:alert(1)",
        "[doc:api#2.1]: javascript:alert(1)",
        "- [1]: javascript:alert(1)",
        "1. [1]: javascript:alert(1)",
        "[ 1 ]: javascript:alert(1)",
        "[1\n]: javascript:alert(1)",
        "> [1\n> ]: javascript:alert(1)",
        "[1\n\u00a0\n]: javascript:alert(1)",
        "1. - [1]: javascript:alert(1)",
        "1. > [1]: javascript:alert(1)",
        "Text\r\r[1]: javascript:alert(1)",
        "[^note]: [1]: javascript:alert(1)",
        "[[doc:nowhere#1]1]: javascript:alert(1)",
        "a `b\n> [1]: javascript:alert(1)\n> c` d",
        "- a\n  ```\n[1]: javascript:alert(1)\n  ```",
        "<!--\n```\n-->\n[1]: javascript:alert(1)\n```",
    ],
)
def test_a_number_never_becomes_a_link(text: str) -> None:
    resolved, _ = resolve(text, (*SOURCES, *MEMORY))
    assert not re.search(r"(?<!\\)\[[\s>]*\d+[\s>]*\](?:\(|:|\[(?!\d))", resolved)


@pytest.mark.parametrize(
    "text",
    [
        "As the guide says [1]: run it.",
        "Write `[1]: x`, or `x` [1]: y.",
        "```\n[1]: https://a.example/\n```",
        r"\[1]: https://a.example/",
        "[note]: https://a.example/",
    ],
)
def test_what_defines_no_number_stays(text: str) -> None:
    assert resolve(text, SOURCES)[0] == text


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "//evil.example", "https://a.example/)(x", "https://a.example/ x", ""],
)
def test_a_source_with_an_address_that_is_none_has_none(url: str) -> None:
    _, (source,) = resolve("[doc:x]", [Source("x", "X", url)])
    assert source.url == ""


def test_a_title_cannot_carry_markup() -> None:
    _, (source,) = resolve("[doc:x]", [Source("x", "](javascript:alert(1)) <script>`", "https://a.example/")])
    assert not set(source.title) & set("[]<>`")


pieces = st.lists(
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(
            ["[doc:", "]", "[doc:api#2.1]", "[doc:no]", "`", "``", "\n```\n", "~~~\n", "\n\n", ", ", "[1]:", "("]
        ),
    ),
    max_size=30,
).map("".join)


@given(pieces)
def test_what_is_returned_is_what_the_text_cites(text: str) -> None:
    resolved, cited = resolve(text, SOURCES)
    assert len(set(cited)) == len(cited)
    assert set(cited) <= set(SOURCES)
    for number in range(1, len(cited) + 1):
        assert f"[{number}]" in resolved


@given(st.text().filter(lambda text: ":" not in text))
def test_an_answer_without_markers_stays_as_it_is(text: str) -> None:
    assert resolve(text, SOURCES) == (text, ())
