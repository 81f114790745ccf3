"""Pruning a history: always valid for the provider, within budget, newest exchanges first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fencepost.domain.conversation import Role, Turn
from fencepost.domain.history import is_blank, prune, turn_tokens

USER, ASSISTANT = Role.USER, Role.ASSISTANT

turns = st.builds(
    Turn, st.sampled_from(Role), st.one_of(st.text(max_size=40), st.sampled_from(["", " \n", "\u200b", "hello"]))
)
histories = st.lists(turns, max_size=50)
budgets = st.integers(0, 3_000)


def exchange(number: int) -> list[Turn]:
    return [Turn(USER, f"question {number}"), Turn(ASSISTANT, f"answer {number}")]


@given(histories, budgets)
def test_the_result_is_valid_for_the_provider(history: list[Turn], budget: int) -> None:
    roles = [turn.role for turn in prune(history, budget)]
    assert roles == [USER, ASSISTANT] * (len(roles) // 2)
    assert not any(is_blank(turn.content) for turn in prune(history, budget))


@given(histories, budgets)
def test_the_result_is_within_budget(history: list[Turn], budget: int) -> None:
    assert sum(map(turn_tokens, prune(history, budget))) <= budget


@given(histories, budgets)
def test_a_bigger_budget_only_adds_older_turns(history: list[Turn], budget: int) -> None:
    some, everything = prune(history, budget), prune(history, 10**9)
    assert some == everything[len(everything) - len(some) :]
    assert some == prune(history, budget)


@given(histories)
def test_nothing_is_lost_but_blanks_a_greeting_and_what_has_no_answer(history: list[Turn]) -> None:
    said = [turn for turn in history if not is_blank(turn.content)]
    while said and said[0].role is ASSISTANT:
        said.pop(0)
    while said and said[-1].role is USER:
        said.pop()
    assert "\n\n".join(turn.content for turn in prune(history, 10**9)) == "\n\n".join(turn.content for turn in said)


@given(st.integers(0, 20), budgets)
def test_no_question_is_parted_from_its_answer(count: int, budget: int) -> None:
    kept = prune([turn for number in range(count) for turn in exchange(number)], budget)
    for question, answer in zip(kept[::2], kept[1::2], strict=True):
        assert question.content.removeprefix("question") == answer.content.removeprefix("answer")


def test_an_exchange_too_long_for_the_budget_ends_the_history() -> None:
    history = [*exchange(1), Turn(USER, "x" * 500), Turn(ASSISTANT, "y"), *exchange(2)]
    assert prune(history, 400) == tuple(exchange(2))


def test_a_greeting_goes_and_split_questions_become_one() -> None:
    history = [Turn(ASSISTANT, "Hi!"), Turn(USER, "One"), Turn(USER, "two?"), Turn(ASSISTANT, "Both."), Turn(USER, "?")]
    assert prune(history, 1_000) == (Turn(USER, "One\n\ntwo?"), Turn(ASSISTANT, "Both."))
