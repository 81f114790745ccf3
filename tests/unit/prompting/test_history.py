"""Pruning a history: always valid for the provider, within budget, newest exchanges first."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from fencepost.conversations.domain.messages import Message, MessageStatus, Turn
from fencepost.model.domain import Role
from fencepost.prompting.domain.history import Exchange, client_exchanges, is_blank, newest, stored_exchanges, window

USER, ASSISTANT = Role.USER, Role.ASSISTANT
PENDING, ANSWERED = MessageStatus.PENDING, MessageStatus.ANSWERED
COMPLETE, SUPERSEDED = MessageStatus.COMPLETE, MessageStatus.SUPERSEDED
NOW = datetime(2026, 3, 1, tzinfo=UTC)

turns = st.builds(
    Turn, st.sampled_from(Role), st.one_of(st.text(max_size=40), st.sampled_from(["", " \n", "\u200b", "hello"]))
)
histories = st.lists(turns, max_size=50)
budgets = st.integers(0, 3_000)


def prune(history: list[Turn], budget: int) -> tuple[Turn, ...]:
    """Return the turns that a prompt shows of a client's history."""
    kept = newest(client_exchanges(history), budget)
    return tuple(turn for pair in kept for turn in (Turn(USER, pair.question), Turn(ASSISTANT, pair.answer)))


def exchange(number: int) -> list[Turn]:
    return [Turn(USER, f"question {number}"), Turn(ASSISTANT, f"answer {number}")]


@given(histories, budgets)
def test_the_result_is_valid_for_the_provider(history: list[Turn], budget: int) -> None:
    roles = [turn.role for turn in prune(history, budget)]
    assert roles == [USER, ASSISTANT] * (len(roles) // 2)
    assert not any(is_blank(turn.content) for turn in prune(history, budget))


@given(histories, budgets)
def test_the_result_is_within_budget(history: list[Turn], budget: int) -> None:
    assert sum(exchange.tokens for exchange in newest(client_exchanges(history), budget)) <= budget


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


def stored(seq: int, role: Role, text: str = "x", status: MessageStatus = ANSWERED, to: int | None = None) -> Message:
    return Message(id=f"m{seq}", seq=seq, role=role, content=text, created_at=NOW, status=status, reply_to=to)


def test_stored_exchanges_are_whole_current_and_before_the_question() -> None:
    messages = [
        stored(1, USER, "Why?"),
        stored(2, ASSISTANT, "Old.", SUPERSEDED, 1),
        stored(3, USER, "Parked", PENDING),
        stored(4, ASSISTANT, "New.", COMPLETE, 1),
        stored(5, ASSISTANT, "To nobody.", COMPLETE, 77),
        stored(6, USER, "\u200b"),
        stored(7, ASSISTANT, "To nothing.", COMPLETE, 6),
        stored(8, USER, "Later?"),
        stored(9, ASSISTANT, "Later.", COMPLETE, 8),
    ]
    first = Exchange("Why?", "New.", 1, ("msg:m1", "msg:m4"))
    assert stored_exchanges(messages, before=8) == (first,)
    assert stored_exchanges(messages, before=9) == (first, Exchange("Later?", "Later.", 8, ("msg:m8", "msg:m9")))


def numbered(sizes: list[tuple[int, int]]) -> list[Exchange]:
    """Return exchanges of these sizes, with these gaps between their numbers."""
    seq, found = 1, []
    for size, gap in sizes:
        found.append(Exchange("q" * size, "a", seq))
        seq += gap
    return found


gaps = st.lists(st.tuples(st.integers(1, 400), st.integers(2, 5)), min_size=1, max_size=60)


@given(gaps, budgets)
def test_a_window_is_the_newest_that_fits_but_for_half_of_it_at_most(sizes: list[tuple[int, int]], budget: int) -> None:
    exchanges = numbered(sizes)
    fitting, shown = newest(exchanges, budget), window(exchanges, budget)
    assert shown == fitting[len(fitting) - len(shown) :]
    assert len(shown) >= len(fitting) / 2 - 1
    if len(fitting) == len(exchanges):
        assert shown == fitting


@given(gaps, budgets)
def test_a_window_only_ever_moves_forward_and_seldom(sizes: list[tuple[int, int]], budget: int) -> None:
    exchanges = numbered(sizes)
    windows = [window(exchanges[:count], budget) for count in range(1, len(exchanges) + 1)]
    starts = [shown[0].seq for shown in windows if shown]
    assert starts == sorted(starts)


def test_a_window_of_even_exchanges_moves_once_in_many_turns() -> None:
    exchanges = [Exchange("q" * 50, "a" * 50, seq) for seq in range(1, 400, 2)]
    budget = 20 * exchanges[0].tokens
    starts = [window(exchanges[:count], budget)[0].seq for count in range(1, len(exchanges) + 1)]
    assert len(set(starts)) <= len(exchanges) / 8 + 1


@given(gaps, st.integers(2, 20))
def test_a_window_over_loaded_messages_moves_forward_only(sizes: list[tuple[int, int]], most: int) -> None:
    exchanges = numbered(sizes)
    loaded = [exchanges[max(0, count - most) : count] for count in range(1, len(exchanges) + 1)]
    starts = [window(part, 10**9, begins=part[0].seq)[0].seq for part in loaded]
    assert starts == sorted(starts)
