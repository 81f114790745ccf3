"""Facts and summaries as tests store them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from fencepost.identity.domain.facts import Fact, FactState
from fencepost.memory.domain.summary import Summary, SummaryLine
from tests.integration.conversation_tables import NOW

PINNED, PROPOSED, SUPERSEDED = FactState.PINNED, FactState.PROPOSED, FactState.SUPERSEDED


def fact(fact_id: str, text: str = "Uses Linux.", state: FactState = PINNED, age: int = 0) -> Fact:
    return Fact(
        id=fact_id,
        text=text,
        state=state,
        pinned_by="owner",
        created_at=NOW - timedelta(seconds=age),
        provenance=("q1",),
    )


def summary(last: int = 4, words: str = "Asked.") -> Summary:
    return Summary(
        id=f"s{last}",
        lines=(SummaryLine(words, ("q1", "q1.1")),),
        first_seq=1,
        last_seq=last,
        content_hash="h",
        prompt_version="v",
        model="m",
        created_at=NOW,
    )


def adding(*facts: Fact) -> Callable[[Sequence[Fact]], Sequence[Fact]]:
    return lambda _: facts
