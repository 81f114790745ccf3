"""What may become of facts, for every list that somebody may write."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.facts import (
    MAX_PINNED,
    MAX_PROPOSED,
    MAX_WRITTEN,
    ProposedFact,
    WantedFact,
    approved,
    fact_tokens,
    proposed,
    rewritten,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ROOMY = 100_000
TEXTS = st.sampled_from([f"Fact {letter}." for letter in "abcdefgh"])


def fact(fact_id: str, text: str, state: FactState = FactState.PINNED, by: str = "owner", **more: object) -> Fact:
    return Fact(id=fact_id, text=text, state=state, pinned_by=by, created_at=NOW, **more)  # type: ignore[arg-type]


def ids() -> Sequence[str]:
    return [f"n{number}" for number in range(200)]


def applied(current: Sequence[Fact], changes: Sequence[Fact]) -> dict[str, Fact]:
    return {row.id: row for row in (*current, *changes)}


def pinned(facts: dict[str, Fact]) -> list[str]:
    return [row.text for row in facts.values() if row.state is FactState.PINNED]


@st.composite
def books(draw: st.DrawFn) -> list[Fact]:
    texts = draw(st.lists(TEXTS, unique=True, max_size=8))
    states = st.sampled_from([FactState.PINNED, FactState.PROPOSED])
    makers = st.sampled_from(["owner", "job"])
    return [fact(f"f{number}", text, draw(states), draw(makers)) for number, text in enumerate(texts)]


WANTED = st.lists(
    st.builds(WantedFact, TEXTS, st.none() | st.sampled_from([f"f{number}" for number in range(9)])), max_size=10
)


@given(books(), WANTED)
def test_exactly_the_wanted_texts_are_pinned(current: list[Fact], wanted: list[WantedFact]) -> None:
    after = applied(current, rewritten(current, wanted, iter(ids()), NOW, ROOMY))
    assert sorted(pinned(after)) == sorted({row.text for row in wanted})


@given(books(), WANTED)
def test_nothing_is_lost_and_no_text_is_changed(current: list[Fact], wanted: list[WantedFact]) -> None:
    after = applied(current, rewritten(current, wanted, iter(ids()), NOW, ROOMY))
    assert all(after[row.id].text == row.text for row in current)
    assert all(
        after[row.id].state is FactState.SUPERSEDED
        for row in current
        if row.state is FactState.PINNED and row.text not in {new.text for new in wanted}
    )


@given(books(), WANTED)
def test_a_fact_in_place_of_another_is_named_by_it(current: list[Fact], wanted: list[WantedFact]) -> None:
    after = applied(current, rewritten(current, wanted, iter(ids()), NOW, ROOMY))
    for row in after.values():
        if row.superseded_by:
            assert row.state is FactState.SUPERSEDED
            assert after[row.superseded_by].state is FactState.PINNED


@given(books(), WANTED)
def test_writing_the_same_again_changes_nothing(current: list[Fact], wanted: list[WantedFact]) -> None:
    after = list(applied(current, rewritten(current, wanted, iter(ids()), NOW, ROOMY)).values())
    current_facts = [row for row in after if row.state is not FactState.SUPERSEDED]
    assert rewritten(current_facts, wanted, iter(ids()), NOW, ROOMY) == []


def test_the_largest_change_fits_into_one_transaction() -> None:
    current = [fact(f"f{number}", f"Old {number}.") for number in range(MAX_PINNED)]
    wanted = [WantedFact(f"New {number}.") for number in range(MAX_PINNED)]
    changes = rewritten(current, wanted, iter(ids()), NOW, ROOMY)
    moved = sum(change.id.startswith("f") for change in changes)
    assert len(changes) + moved <= MAX_WRITTEN


def test_an_approved_proposal_keeps_where_it_came_from() -> None:
    current = [fact("f1", "Uses Linux.", FactState.PROPOSED, "job", provenance=("q1",))]
    [change] = rewritten(current, [WantedFact("Uses Linux.")], iter(ids()), NOW, ROOMY)
    assert (change.id, change.state, change.pinned_by, change.provenance) == ("f1", FactState.PINNED, "owner", ("q1",))


def test_an_edited_proposal_is_superseded_by_what_was_written() -> None:
    current = [fact("f1", "Uses Linux.", FactState.PROPOSED, "job")]
    new, old = rewritten(current, [WantedFact("Uses Debian.", "f1")], iter(ids()), NOW, ROOMY)
    assert (new.text, new.state) == ("Uses Debian.", FactState.PINNED)
    assert (old.state, old.superseded_by) == (FactState.SUPERSEDED, new.id)


@pytest.mark.parametrize("extra", [0, 1])
def test_a_budget_holds_to_the_token(extra: int) -> None:
    texts = ["Uses Linux.", "日本語で答える。"]
    budget = sum(map(fact_tokens, texts)) - extra
    wanted = [WantedFact(text) for text in texts]
    if extra:
        with pytest.raises(FencepostError) as raised:
            rewritten([], wanted, iter(ids()), NOW, budget)
        assert raised.value.code is ErrorCode.FACTS_TOO_LARGE
    else:
        assert len(rewritten([], wanted, iter(ids()), NOW, budget)) == len(texts)


def test_approving_pins_and_takes_the_place_of_what_it_replaces() -> None:
    current = [fact("f1", "Uses Linux."), fact("f2", "Uses macOS.", FactState.PROPOSED, "job")]
    after = applied(current, approved(current, "f2", ROOMY, replaces="f1"))
    assert pinned(after) == ["Uses macOS."]
    assert after["f1"].superseded_by == "f2"
    assert after["f2"].pinned_by == "owner"


@pytest.mark.parametrize(("fact_id", "replaces"), [("f9", None), ("f2", "f9"), ("f2", "f3")])
def test_what_is_not_there_cannot_be_approved_or_replaced(fact_id: str, replaces: str | None) -> None:
    current = [fact("f2", "Two.", FactState.PROPOSED), fact("f3", "Three.", FactState.PROPOSED)]
    with pytest.raises(FencepostError) as raised:
        approved(current, fact_id, ROOMY, replaces)
    assert raised.value.code is ErrorCode.NOT_FOUND


def test_approving_twice_changes_nothing() -> None:
    current = [fact("f1", "Uses Linux.")]
    assert approved(current, "f1", ROOMY) == []


def test_approving_what_does_not_fit_is_refused() -> None:
    current = [fact("f1", "Uses Linux."), fact("f2", "Uses macOS.", FactState.PROPOSED)]
    with pytest.raises(FencepostError) as raised:
        approved(current, "f2", fact_tokens("Uses Linux."))
    assert raised.value.code is ErrorCode.FACTS_TOO_LARGE


DRAFTS = st.lists(
    st.builds(
        ProposedFact,
        id=st.sampled_from([f"d{number}" for number in range(9)]),
        text=TEXTS,
        provenance=st.just(("q1",)),
        replaces=st.none() | st.sampled_from([f"f{number}" for number in range(9)]),
    ),
    max_size=9,
    unique_by=lambda draft: draft.id,
)


@given(books(), DRAFTS, st.booleans())
def test_a_job_never_touches_what_a_person_pinned(
    current: list[Fact], drafts: list[ProposedFact], trusted: bool
) -> None:
    after = applied(current, proposed(current, drafts, NOW, ROOMY, trusted=trusted))
    assert all(after[row.id] == row for row in current if row.pinned_by == "owner")


@given(books(), DRAFTS)
def test_untrusted_proposals_pin_nothing(current: list[Fact], drafts: list[ProposedFact]) -> None:
    after = applied(current, proposed(current, drafts, NOW, ROOMY, trusted=False))
    assert pinned(after) == pinned(applied(current, []))


@given(books(), DRAFTS, st.booleans(), st.integers(0, 200))
def test_proposals_say_nothing_twice_and_stay_within_limits(
    current: list[Fact], drafts: list[ProposedFact], trusted: bool, budget: int
) -> None:
    before = sum(fact_tokens(text) for text in pinned(applied(current, [])))
    changes = proposed(current, drafts, NOW, budget, trusted=trusted)
    after = applied(current, changes)
    texts = [row.text for row in after.values() if row.state is not FactState.SUPERSEDED]
    assert len(texts) == len(set(texts))
    assert sum(map(fact_tokens, pinned(after))) <= max(budget, before)
    assert all(row.provenance for row in changes if row.id.startswith("d"))


@given(books(), DRAFTS, st.booleans())
def test_proposing_the_same_again_changes_nothing(
    current: list[Fact], drafts: list[ProposedFact], trusted: bool
) -> None:
    after = list(applied(current, proposed(current, drafts, NOW, ROOMY, trusted=trusted)).values())
    again = proposed(after, drafts, NOW, ROOMY, trusted=trusted)
    assert not [row for row in again if row.id in {old.id for old in after}]


def test_a_trusted_proposal_takes_the_place_of_what_a_job_pinned() -> None:
    current = [fact("f1", "Uses Linux.", by="job")]
    draft = ProposedFact("d1", "Uses macOS.", ("q3",), replaces="f1")
    after = applied(current, proposed(current, [draft], NOW, ROOMY, trusted=True))
    assert pinned(after) == ["Uses macOS."]
    assert after["f1"].superseded_by == "d1"


def test_more_proposals_than_anybody_reads_are_left_out() -> None:
    numbers = count()
    drafts = [ProposedFact(f"d{number}", f"Fact {number}.", ("q1",)) for number in (next(numbers) for _ in range(50))]
    assert len(proposed([], drafts, NOW, ROOMY, trusted=False)) == MAX_PROPOSED


def test_the_same_in_other_letters_is_no_news() -> None:
    current = [fact("f1", "Uses Linux.")]
    drafts = [ProposedFact("d1", "uses  LINUX", ("q1",))]
    assert proposed(current, drafts, NOW, ROOMY, trusted=False) == []
