"""What a question is looked for with, when it leaves part of that to the conversation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.prompting.domain.history import Exchange
from fencepost.retrieval.domain.followups import ANSWER_CHARACTERS, is_follow_up, resolved

LINUX = Exchange("How do I install it on Linux?", "Run `make install` [1]. Then restart.")
PLANS = Exchange("Which plan has single sign-on?", "The **Team** plan [1]. It costs more.")


@pytest.mark.parametrize(
    "question",
    [
        "and for Windows?",
        "And on a Mac?",
        "What about Windows?",
        "or with Docker?",
        "How much does it cost?",
        "Why?",
        "und für Windows?",
        "et pour Windows ?",
        "¿Y para Windows?",
        "Windowsの場合は？",
        "那么Windows呢？",
        "그럼 윈도우는?",
        "а для Windows?",
    ],
)
def test_a_follow_up_brings_the_question_before_it(question: str) -> None:
    assert is_follow_up(question)
    assert resolved(question, [LINUX]).startswith(LINUX.question)
    assert resolved(question, [LINUX]).endswith(question)


@pytest.mark.parametrize(
    "question",
    [
        "How do I install Fencepost on Windows?",
        "Which plans have single sign-on and audit logs?",
        "And then, once the invoices were exported to the bookkeeping system, which format do auditors need?",
        "料金プランの違いを詳しく教えてください。",
        "Is there a list of all supported databases and their versions?",
    ],
)
def test_a_question_that_stands_by_itself_is_looked_for_as_it_is(question: str) -> None:
    assert not is_follow_up(question)
    assert resolved(question, [LINUX, PLANS]) == question


def test_a_chain_of_follow_ups_leans_on_the_last_question_that_stood_by_itself() -> None:
    said = [PLANS, LINUX, Exchange("and for Windows?", "Use the installer."), Exchange("and macOS?", "Use brew.")]
    assert resolved("and for Docker?", said) == f"{LINUX.question}\nand for Docker?"


def test_what_points_at_the_answer_brings_its_first_sentence_without_marks() -> None:
    assert resolved("How much is it?", [LINUX, PLANS]).split("\n") == [
        PLANS.question,
        "The Team plan .",
        "How much is it?",
    ]


def test_without_a_conversation_there_is_nothing_to_lean_on() -> None:
    assert resolved("and for Windows?", []) == "and for Windows?"


@given(st.text(max_size=300), st.lists(st.builds(Exchange, st.text(max_size=300), st.text(max_size=900)), max_size=4))
def test_nothing_is_invented_and_the_question_is_always_there(question: str, said: list[Exchange]) -> None:
    text = resolved(question, said)
    assert text.endswith(question)
    assert text == resolved(question, said)
    longest = max((len(one.question) for one in said), default=0)
    assert len(text) <= longest + ANSWER_CHARACTERS + len(question) + 2
