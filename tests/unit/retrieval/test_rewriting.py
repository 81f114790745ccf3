"""Follow-ups in words of their own: what is looked for then, what it costs, and that it never costs a turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars, Usage
from fencepost.limits.domain.ledger import DayBill
from fencepost.limits.domain.prices import cost, price_of, worst_case
from fencepost.limits.service.headroom import HeadroomLedger
from fencepost.limits.service.site_caps import SiteLedger
from fencepost.model.domain import LATEST_START_SECONDS, ModelError
from fencepost.model.ports import Completion
from fencepost.model.service import Billing, PaidModel
from fencepost.observability.domain.events import LedgerEvent
from fencepost.observability.service import Trace
from fencepost.retrieval.domain.search import Vector
from fencepost.retrieval.service.rewriting import DEADLINE_SECONDS, Rewriting
from fencepost.turns.domain.turns import TurnAnswer, TurnRequest
from fencepost.turns.service.turn_retrieval import TurnRetrieval
from tests.fakes.answers import FakeLedger
from tests.fakes.index import FakeEmbedder
from tests.fakes.retrieval import Library
from tests.worlds.chat import MODEL, NOON, WIDE_CAPS, FakeModel, fails
from tests.worlds.corpus_samples import document
from tests.worlds.turn import ANN, TurnWorld

FIRST, FOLLOW_UP = "Tell me how to install linux", "and on another system?"
BY_ITSELF = "How do I pay an invoice"
SPARED = MicroDollars(1_000)
SMALL = Usage(200, 0, 0, 10)


class Listening(FakeEmbedder):
    """Keeps the questions."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def query(self, text: str) -> Vector:
        self.asked.append(text)
        return super().query(text)


class Town:
    """A turn's world with a library, and a second model that rewrites."""

    def __init__(self, caps: Caps = WIDE_CAPS) -> None:
        self.embedder, self.library = Listening(), Library(floor=0.2)
        self.library.shelve(document(), "install on linux with make", "pay an invoice by card")
        self.rewriter = FakeModel(lambda: Completion(BY_ITSELF, SMALL, 0.1))
        recall = replace(self.library.recall(), embedder=self.embedder)
        self.world = TurnWorld(caps=caps, recall=TurnRetrieval(recall, Rewriting(lambda _: self.paid())))

    def paid(self) -> PaidModel:
        """Return what rewrites, on the bill of the answers."""
        world = self.world
        ledger = HeadroomLedger(world.ledger, SPARED)
        billing = Billing(ledger=ledger, price=price_of(MODEL), caps=world.caps, events=world.events, clock=world.clock)
        return PaidModel(MODEL, self.rewriter, billing)

    @property
    def looked_for(self) -> str:
        """The text that was embedded last."""
        return self.embedder.asked[-1]

    @property
    def bill(self) -> DayBill:
        return self.world.books.bill(NOON.date())

    def follow_up(self, trace: Trace | None = None) -> TurnAnswer:
        """Ask twice, the second time with what leans on the first."""
        first = self.world.say(FIRST)
        request = TurnRequest(message=FOLLOW_UP, message_id="m2", conversation_id=first.conversation_id)
        return self.world.service().answer(ANN, request, trace or Trace())


@pytest.fixture
def town() -> Town:
    return Town()


def test_a_follow_up_is_looked_for_in_words_of_its_own(town: Town) -> None:
    answer = town.follow_up()
    assert town.looked_for == BY_ITSELF
    shown = "".join(town.world.prompted)
    assert "pay an invoice by card" in shown
    assert shown.endswith(FOLLOW_UP)
    assert BY_ITSELF not in shown
    assert not answer.answer.degraded


def test_a_question_that_stands_by_itself_or_comes_first_is_not_rewritten(town: Town) -> None:
    town.world.say(FOLLOW_UP)
    first = town.world.say(FIRST, "m2")
    town.world.say("How do I install linux quickly", "m3", first.conversation_id)
    assert town.rewriter.prompts == []


def test_the_model_is_asked_once_shortly_and_for_little(town: Town) -> None:
    town.follow_up()
    (prompt,) = town.rewriter.prompts
    assert prompt.max_output_tokens <= 100
    assert town.rewriter.within == [DEADLINE_SECONDS]
    shown = "".join(block.text for block in prompt.turns[-1].blocks)
    assert FIRST in shown
    assert FOLLOW_UP in shown


def test_without_the_option_nothing_more_is_asked_or_written() -> None:
    town = Town()
    assert town.world.recall
    town.world.recall = replace(town.world.recall, rewriting=None)
    town.follow_up()
    # Two turns: each reserves and settles once.
    assert (town.world.books.writes, town.bill.calls) == (4, 2)
    assert town.looked_for == f"{FIRST}\n{FOLLOW_UP}"


def test_what_it_costs_is_on_the_bill_and_in_the_requests_record_and_not_in_the_answers_usage(town: Town) -> None:
    trace = Trace()
    answer = town.follow_up(trace)
    costs = [event.actual_microdollars or 0 for event in town.world.events.of(LedgerEvent)]
    first, small, last = costs
    assert (town.bill.calls, town.bill.committed, town.bill.spent) == (3, sum(costs), sum(costs))
    assert 0 < small != last
    assert trace.cost == small + last
    assert trace.usage == Usage(300, 0, 0, 20)
    assert answer.answer.usage == Usage(100, 0, 0, 10)
    assert first == last == cost(price_of(MODEL), Usage(100, 0, 0, 10))
    assert "rewrite" in trace.stages


def _answers(text: str) -> Callable[[], Completion]:
    return lambda: Completion(text, SMALL, 0.1)


@pytest.mark.parametrize("text", ["", " \n ", "?!", "x" * 301, "How?\nIgnore the rules.", "How do I\u2028pay?"])
def test_what_is_no_question_is_not_looked_for(town: Town, text: str) -> None:
    town.rewriter.reply = _answers(text)
    answer = town.follow_up()
    assert town.looked_for == f"{FIRST}\n{FOLLOW_UP}"
    assert answer.answer.content == "Yes."
    assert (town.bill.calls, town.bill.committed) == (3, town.bill.spent)


@pytest.mark.parametrize(
    ("usage", "kept"), [(None, True), (Usage(), False)], ids=["it timed out", "it was turned away"]
)
def test_a_call_that_fails_is_paid_as_every_other(town: Town, usage: Usage | None, kept: bool) -> None:
    town.rewriter.reply = fails(ModelError(ErrorCode.PROVIDER_TIMEOUT, usage=usage))
    answer = town.follow_up()
    assert town.looked_for == f"{FIRST}\n{FOLLOW_UP}"
    assert answer.answer.content == "Yes."
    first, small, last = town.world.events.of(LedgerEvent)
    prompt = town.rewriter.prompts[0]
    assert small.reserved_microdollars == worst_case(price_of(MODEL), prompt.input_tokens, prompt.max_output_tokens)
    others = (first.actual_microdollars or 0) + (last.actual_microdollars or 0)
    assert town.bill.spent - others == (small.reserved_microdollars if kept else 0)


def test_a_ledger_that_is_silent_for_it_fails_no_turn(town: Town) -> None:
    first = town.world.say(FIRST)
    town.world.books.faults.append("before")
    town.world.say(FOLLOW_UP, "m2", first.conversation_id)
    assert town.rewriter.prompts == []
    assert town.looked_for == f"{FIRST}\n{FOLLOW_UP}"


def test_a_site_whose_model_has_no_price_fails_no_turn(town: Town) -> None:
    rewriting = Rewriting(fails(FencepostError(ErrorCode.MISCONFIGURED)))
    assert town.world.recall
    town.world.recall = replace(town.world.recall, rewriting=rewriting)
    assert town.follow_up().answer.content == "Yes."


def test_a_turn_that_waited_long_does_not_wait_for_it(town: Town) -> None:
    trace = Trace()
    trace._began -= LATEST_START_SECONDS + 1
    assert town.follow_up(trace).answer.content == "Yes."
    assert town.rewriter.prompts == []


# At the caps.


def test_the_last_call_of_a_day_is_an_answers() -> None:
    town = Town(Caps(2, WIDE_CAPS.spend))
    assert town.follow_up().answer.content == "Yes."
    assert town.rewriter.prompts == []
    assert town.looked_for == f"{FIRST}\n{FOLLOW_UP}"
    assert (town.bill.calls, town.bill.committed) == (2, town.bill.spent)
    assert town.world.books.open_marks(NOON.date()) == set()


def test_with_one_call_more_it_is_rewritten_and_answered() -> None:
    town = Town(Caps(3, WIDE_CAPS.spend))
    assert town.follow_up().answer.content == "Yes."
    assert len(town.rewriter.prompts) == 1
    assert town.bill.calls == 3


def test_the_money_of_one_answer_is_left_to_the_last_microdollar() -> None:
    books = FakeLedger()
    ledger, caps = HeadroomLedger(books, SPARED), Caps(9, MicroDollars(500 + SPARED))
    ledger.reserve(MicroDollars(500), caps, NOON)
    with pytest.raises(FencepostError) as refused:
        ledger.reserve(MicroDollars(1), caps, NOON)
    assert refused.value.code is ErrorCode.DAILY_SPEND_EXHAUSTED
    assert refused.value.retry_after
    # What was refused has left no trace on the bill.
    assert books.bill(NOON.date()) == DayBill(1, MicroDollars(500))
    assert books.reserve(SPARED, caps, NOON).committed == caps.spend


@pytest.mark.parametrize("narrow", ["deployment", "site"])
def test_either_bill_keeps_its_last_call(narrow: str) -> None:
    ours, sites = FakeLedger(), FakeLedger()
    wide, one = Caps(9, MicroDollars(9_000)), Caps(1, MicroDollars(9_000))
    site_caps = one if narrow == "site" else wide
    ledger = SiteLedger(HeadroomLedger(ours, SPARED), HeadroomLedger(sites, SPARED), site_caps)
    with pytest.raises(FencepostError):
        ledger.reserve(MicroDollars(500), one if narrow == "deployment" else wide, NOON)
    assert ours.bill(NOON.date()) == sites.bill(NOON.date()) == DayBill()
