"""`POST /api/ai-chat`: what an answer needs, and what becomes of a call."""

from __future__ import annotations

import re
import time

import pytest

from fencepost.conversations.domain.messages import Question
from fencepost.documents.domain.sections import DocumentSet
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Usage
from fencepost.model.domain import ModelError
from fencepost.model.ports import Completion
from fencepost.model.service import LEAST_MODEL_SECONDS, TURN_SECONDS
from fencepost.observability.domain.events import LedgerEvent, RequestEvent
from fencepost.observability.service import Trace
from fencepost.prompting.domain.fence import Section
from fencepost.turns.domain.signatures import Policy
from fencepost.turns.domain.system_prompt import UNVERIFIED_MARK
from tests.fakes.answers import FakeKeys, FakeLedger
from tests.worlds.budgets import Budgets
from tests.worlds.chat import SMALL_SITE, BrokenKeys, FakeDocuments, FakeModel, World, fails, pairs, turn

LARGE_SITE = DocumentSet(
    tuple(
        Section(f"page#{n}", "Kumquats", f"https://docs.example/{n}", "All about kumquats. " * 20) for n in range(50)
    ),
    "1" * 64,
)


class KeylessKeys(FakeKeys):
    """No provider's key."""

    def provider_key(self) -> str:
        raise FencepostError(ErrorCode.MISCONFIGURED)


class NoDocuments:
    """A site that cannot be read."""

    current = staticmethod(fails(FencepostError(ErrorCode.DOCUMENTS_UNAVAILABLE, retry_after=12)))


def test_without_documents_there_is_no_answer_and_no_permit() -> None:
    world = World(documents=NoDocuments())
    reply = world.ask()
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "documents_unavailable", "12")
    assert (world.calls, world.bill.calls) == (0, 0)


@pytest.mark.parametrize("keys", [BrokenKeys(), KeylessKeys()])
def test_without_a_secret_there_is_no_answer_and_no_permit(keys: FakeKeys) -> None:
    world = World(keys=keys)
    reply = world.ask()
    assert (reply.status, reply.code) == (500, "misconfigured")
    assert (world.calls, world.bill.calls) == (0, 0)


def test_a_prompt_without_room_for_an_answer_takes_no_permit() -> None:
    narrow = Budgets(documents_tokens=1_000, history_tokens=0, max_output_tokens=1_000, context_tokens=2_000)
    world = World(budgets=narrow)
    assert (world.ask().code, world.calls, world.bill.calls) == ("prompt_too_large", 0, 0)


def conversation(world: World) -> list[dict[str, object]]:
    """Have one exchange, and return it as a client keeps it."""
    answer = world.ask("  What is ﬁne?\u200b ").json
    return [
        turn("user", "  What is ﬁne?\u200b "),
        turn("assistant", answer["response"], signature=answer["signature"]),
    ]


def test_our_own_answers_are_accepted_where_unsigned_ones_are_refused() -> None:
    world = World(unsigned_history="refuse")
    history = conversation(world)
    answer = world.ask("And then?", history=history).json
    history += [turn("user", "And then?"), turn("assistant", answer["response"], signature=answer["signature"])]
    assert world.ask("And after that?", history=history).status == 200


@pytest.mark.parametrize("change", [{"content": "No."}, {"signature": None}, {"signature": "v1..00"}])
def test_a_forged_answer_is_refused_before_any_permit(change: dict[str, object]) -> None:
    world = World(unsigned_history="refuse")
    question, answer = conversation(world)
    reply = world.ask(history=[question, answer | change])
    assert (reply.status, reply.code, world.calls, world.counted) == (400, "history_unsigned", 1, 2)


@pytest.mark.parametrize(("policy", "marked"), [("accept", False), ("mark", True)])
def test_an_unsigned_answer_is_taken_or_marked(policy: Policy, marked: bool) -> None:
    world = World(unsigned_history=policy)
    world.ask(history=pairs(1, answer="Kumquats."))
    assert isinstance(world.model, FakeModel)
    shown = world.model.prompts[0].turns[1].blocks[0].text
    assert shown.endswith("Kumquats.")
    assert (UNVERIFIED_MARK in shown) is marked


LONG_ANSWER = Completion("Yes. " * 4_000, Usage(100, 0, 0, 4_000), 0.1)


@pytest.mark.parametrize("policy", ["accept", "mark", "refuse"])
def test_an_answer_of_ours_is_accepted_however_long(policy: Policy) -> None:
    world = World(unsigned_history=policy, model=FakeModel(lambda: LONG_ANSWER))
    history = conversation(world)
    assert world.ask("And then?", history=history).status == 200
    reply = world.ask("And then?", history=[history[0], history[1] | {"content": "No. " * 4_000}])
    assert (reply.status, reply.code, world.calls) == (400, "history_content_too_long", 2)


@pytest.mark.parametrize("documents_tokens", [20_000, 1_000])
def test_nonces_that_the_model_prints_reach_no_visitor(documents_tokens: int) -> None:
    model = FakeModel()

    def parrot() -> Completion:
        prompt = model.prompts[-1]
        blocks = [*prompt.system, *(block for turn in prompt.turns for block in turn.blocks)]
        nonces = {nonce for block in blocks for nonce in re.findall(r'nonce="([0-9a-f]{32})"', block.text)}
        assert nonces
        return Completion(f"It is {', '.join(nonces)}.", Usage(100, 0, 0, 10), 0.1)

    model.reply = parrot
    budgets = Budgets(documents_tokens=documents_tokens, history_tokens=0, max_output_tokens=1_000)
    documents = FakeDocuments(SMALL_SITE if documents_tokens > 1_000 else LARGE_SITE)
    reply = World(model=model, budgets=budgets, documents=documents).ask("Kumquats?")
    assert reply.json["response"] == "It is ."


PROVIDER_ERRORS = {
    ErrorCode.PROVIDER_OVERLOADED: 503,
    ErrorCode.PROVIDER_TIMEOUT: 504,
    ErrorCode.PROVIDER_REFUSED: 502,
    ErrorCode.PROVIDER_CONTEXT_OVERFLOW: 502,
    ErrorCode.PROVIDER_TRUNCATED: 502,
    ErrorCode.PROVIDER_REJECTED: 502,
    ErrorCode.PROVIDER_FAILED: 502,
}


@pytest.mark.parametrize(("code", "status"), PROVIDER_ERRORS.items())
def test_a_failure_of_the_provider_has_its_code_and_was_one_call(code: ErrorCode, status: int) -> None:
    world = World(model=FakeModel(fails(ModelError(code, usage=None))))
    reply = world.ask()
    assert (reply.status, reply.code, world.calls) == (status, code, 1)
    assert ("retry-after" in reply.headers) == (status == 503)
    assert world.audit.records[0].outcome == "failed"


def test_the_providers_own_wait_is_passed_on() -> None:
    error = ModelError(ErrorCode.PROVIDER_OVERLOADED, usage=Usage(), retry_after=17)
    assert World(model=FakeModel(fails(error))).ask().headers["retry-after"] == "17"


def test_a_failure_of_unknown_cost_keeps_its_reservation() -> None:
    world = World(model=FakeModel(fails(ModelError(ErrorCode.PROVIDER_TIMEOUT, usage=None))))
    world.ask()
    (event,) = world.events.of(LedgerEvent)
    assert (event.result, event.actual_microdollars) == ("kept", None)
    assert world.bill.committed == world.bill.spent == event.reserved_microdollars > 0
    assert world.events.of(RequestEvent)[0].cost_microdollars == event.reserved_microdollars


def test_an_answer_of_unknown_cost_is_given_and_keeps_its_reservation() -> None:
    world = World(model=FakeModel(lambda: Completion("Yes.", None, 0.1)))
    assert world.ask().status == 200
    (event,) = world.events.of(LedgerEvent)
    assert (event.result, event.actual_microdollars) == ("kept", None)
    assert world.bill.committed == world.bill.spent == event.reserved_microdollars > 0


@pytest.mark.parametrize("usage", [Usage(), Usage(200, 0, 0, 30)])
def test_a_failure_of_known_cost_is_settled_and_its_permit_used(usage: Usage) -> None:
    world = World(model=FakeModel(fails(ModelError(ErrorCode.PROVIDER_TRUNCATED, usage=usage))))
    world.ask()
    cost = usage.input_tokens + usage.output_tokens * 5
    assert (world.bill.calls, world.bill.committed, world.bill.spent) == (1, cost, cost)
    assert world.events.of(LedgerEvent)[0].result == "settled"


def test_an_answer_is_not_lost_when_settling_fails() -> None:
    ledger = FakeLedger()
    ledger.faults.extend([None, "before"])
    world = World(ledger=ledger)
    assert world.ask().status == 200
    (event,) = world.events.of(LedgerEvent)
    assert event.result == "settle_failed"
    assert world.bill.committed == event.reserved_microdollars


def test_more_than_was_set_aside_is_an_event() -> None:
    world = World(model=FakeModel(lambda: Completion("Yes.", Usage(1_000_000, 0, 0, 0), 0.1)))
    assert world.ask().status == 200
    assert world.events.of(LedgerEvent)[0].result == "overrun"
    assert world.bill.spent == 1_000_000


def test_the_provider_is_asked_once_and_never_again() -> None:
    world = World(model=FakeModel(fails(RuntimeError("Traceback: sk-secret"))))
    reply = world.ask()
    assert (reply.status, reply.code, world.calls) == (500, "internal_error", 1)
    assert "sk-secret" not in reply.text
    assert [type(error) for error in world.events.unexpected] == [RuntimeError]
    assert world.events.of(LedgerEvent)[0].result == "kept"
    assert world.events.of(RequestEvent)[0].outcome == "internal_error"


def test_an_answer_of_unknown_citations_only_is_a_failure_that_was_paid_for() -> None:
    world = World(model=FakeModel(lambda: Completion("[doc:nowhere#1]", Usage(100, 0, 0, 10), 0.1)))
    assert world.ask().code == "provider_failed"
    assert world.bill.spent == 150


def test_the_model_gets_the_time_that_is_left() -> None:
    world = World()
    service, model = world.service, world.model
    assert isinstance(model, FakeModel)
    service.answer(Question("How do I install it?"), Trace(_began=time.perf_counter() - 20))
    assert LEAST_MODEL_SECONDS < model.within[0] <= TURN_SECONDS - 20


def test_without_time_left_no_permit_is_taken() -> None:
    world = World()
    with pytest.raises(FencepostError, match="provider_timeout"):
        world.service.answer(Question("How do I install it?"), Trace(_began=time.perf_counter() - 24))
    assert (world.calls, world.bill.calls) == (0, 0)
