"""A process dies while it looks for what belongs into a prompt, and a retry makes the turn whole and pays no less."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.kernel.money import MicroDollars, Usage
from fencepost.limits.domain.prices import price_of
from fencepost.limits.service.headroom import HeadroomLedger
from fencepost.model.ports import Completion
from fencepost.model.service import Billing, PaidModel
from fencepost.retrieval.service.retriever import Retriever
from fencepost.retrieval.service.rewriting import Rewriting
from fencepost.turns.domain.turns import TurnAnswer
from fencepost.turns.service.turn_retrieval import TurnRetrieval
from tests.fakes.answers import Fault
from tests.fakes.retrieval import Library
from tests.worlds.chat import MODEL, FakeModel
from tests.worlds.corpus_samples import document
from tests.worlds.turn import Killed, Process, TurnWorld
from tests.worlds.turn_rules import CALLS, check_answered_once, check_bill

SEARCH = (
    "rewriting.reserve",
    "rewriter.complete",
    "rewriting.settle",
    "embedder.query",
    "index.lexical",
    "index.nearest",
    "rows.hydrate",
    "rows.finish",
)
"""Every call of a port that a follow-up makes besides, where the deployment has an index and rewrites."""


class Town:
    """A conversation that was begun, and what its follow-ups are looked for with."""

    def __init__(self) -> None:
        self.world, self.library = TurnWorld(), Library()
        self.library.shelve(document(), "install on linux with make")
        self.rewriter = FakeModel(lambda: Completion("How do I install linux", Usage(100, 0, 0, 10), 0.1))
        self.conversation = self.world.say("Hello", "m0").conversation_id

    @property
    def calls(self) -> int:
        """How often a provider was called."""
        return len(self.world.model.prompts) + len(self.rewriter.prompts)

    def follow_up(self, process: Process) -> TurnAnswer:
        """Make the turn in a process, which may be killed in its search as well."""
        self.world.recall = TurnRetrieval(self._recall(process), Rewriting(lambda _: self._paid(process)))
        return self.world.say_until_answered("And on another one?", "m1", self.conversation, process=process)

    def _recall(self, process: Process) -> Retriever:
        recall = self.library.recall()
        return replace(
            recall,
            index=process.mortal(recall.index, "index"),
            embedder=process.mortal(recall.embedder, "embedder"),
            hydrators={"document": process.mortal(recall.hydrators["document"], "rows")},
        )

    def _paid(self, process: Process) -> PaidModel:
        world = self.world
        ledger = process.mortal(HeadroomLedger(world.ledger, MicroDollars(1_000)), "rewriting")
        billing = Billing(ledger=ledger, price=price_of(MODEL), caps=world.caps, events=world.events, clock=world.clock)
        return PaidModel(MODEL, process.mortal(self.rewriter, "rewriter"), billing)


def test_these_are_all_calls_of_a_turn() -> None:
    plain, follow_up, world = Process(), Process(), TurnWorld()
    world.say(process=plain)
    assert {*plain.calls} == {*CALLS}
    Town().follow_up(follow_up)
    assert {*follow_up.calls} == {*CALLS, *SEARCH}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", SEARCH)
def test_a_follow_up_whose_search_died_is_answered_once(call: str, when: Fault) -> None:
    town = Town()
    with pytest.raises(Killed):
        town.follow_up(Process((call, when)))
    answer = town.follow_up(Process())
    check_answered_once(town.world.messages(town.conversation), "m0", "m1")
    check_bill(town.world.books.bill(town.world.clock.now.date()), town.calls)
    calls = town.calls
    assert town.follow_up(Process()) == answer
    assert town.calls == calls
