"""Turns that meet: joining, waiting, taking over and parking; permissions that end in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from fencepost.conversations.domain.messages import AnswerContext, MessageStatus
from fencepost.documents.domain.sections import DocumentSet
from fencepost.identity.domain.scope import Denied
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.model.ports import Completion
from fencepost.observability.domain.events import AuthorizationEvent, LeaseEvent, LedgerEvent
from fencepost.observability.service import Trace
from fencepost.turns.domain.turns import BUSY_SECONDS, JOIN_SECONDS, LEASE, TurnAnswer, TurnRequest
from tests.fakes.conversations import owned
from tests.worlds.chat import SMALL_SITE, FakeDocuments
from tests.worlds.turn import ANN, BEN, TurnWorld
from tests.worlds.turn_rules import check_answered_once
from tests.worlds.turn_scenes import member, refused, results, start

QUESTION = "How do I install it?"


@pytest.fixture
def world() -> TurnWorld:
    return TurnWorld()


def meanwhile(world: TurnWorld, happens: Callable[[], object]) -> None:
    """Let something happen once, while the model writes."""
    reply = world.model.reply

    def write() -> Completion:
        world.model.reply = reply
        happens()
        return reply()

    world.model.reply = write


def test_a_retry_waits_for_its_running_turn_and_never_pays_beside_it(world: TurnWorld) -> None:
    told: list[ErrorCode] = []
    meanwhile(world, lambda: told.append(refused(world.say).code))
    answer = world.say()
    assert told == [ErrorCode.CONVERSATION_BUSY]
    assert sum(world.pauses) == pytest.approx(JOIN_SECONDS)
    assert world.say() == answer
    assert len(world.model.prompts) == 1


def test_a_retry_that_waits_gets_the_answer_of_the_turn_it_joined(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id
    start(world, "m1", conversation)
    finished: list[TurnAnswer] = []

    def finish() -> None:
        # Another process takes the turn over while this one waits, and is through with it.
        world.on_pause = lambda: None
        world.hold(owned(world.scope(), conversation), seconds=0)
        finished.append(world.say(QUESTION, "m1", conversation))

    world.on_pause = finish
    assert world.say(QUESTION, "m1", conversation) == finished[0]
    assert len(world.model.prompts) == 2
    assert results(world)[-2:] == ["resumed", "joined"]


def test_another_message_waits_for_its_turn(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id
    start(world, "m1", conversation)
    place = owned(world.scope(), conversation)
    world.hold(place, seconds=2)
    answer = world.say("Else", "m2", conversation)
    assert sum(world.pauses) == pytest.approx(2)
    assert answer.answer.reply_to == 4
    assert results(world)[-1] == "parked"
    assert world.events.of(LeaseEvent)[-1].waited_milliseconds == pytest.approx(2_000)


def test_nobody_waits_for_ever(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id
    start(world, "m1", conversation)
    error = refused(lambda: world.say("Else", "m2", conversation))
    assert (error.code, error.retry_after) == (ErrorCode.CONVERSATION_BUSY, 5)
    assert sum(world.pauses) == pytest.approx(BUSY_SECONDS)
    assert results(world)[-1] == "busy"


def test_conversations_do_not_wait_for_each_other(world: TurnWorld) -> None:
    start(world)
    world.say("Else", "m2")
    world.say(QUESTION, "m1", caller=BEN)
    assert world.pauses == []


def test_a_dead_turn_is_taken_over_by_its_retry(world: TurnWorld) -> None:
    start(world)
    world.clock.advance(LEASE.total_seconds())
    answer = world.say()
    assert results(world) == ["taken", "resumed"]
    check_answered_once(world.messages(answer.conversation_id), "m1")


def test_a_parked_question_shows_as_pending_until_its_retry(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id
    start(world, "m1", conversation)
    world.clock.advance(LEASE.total_seconds())
    world.say("Else", "m2", conversation)
    statuses = {one.id: one.status for one in world.messages(conversation)}
    assert statuses["m1"] is MessageStatus.PENDING
    world.say(QUESTION, "m1", conversation)
    check_answered_once(world.messages(conversation), "m0", "m1", "m2")


def test_a_lease_that_was_lost_stores_nothing_and_says_so(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id

    def overtake() -> None:
        world.clock.advance(LEASE.total_seconds())
        world.say("Else", "m2", conversation)

    meanwhile(world, overtake)
    error = refused(lambda: world.say(QUESTION, "m1", conversation))
    assert error.code is ErrorCode.CONVERSATION_BUSY
    assert results(world)[-1] == "lost"
    # It was paid, and the bill says so: the answer alone is gone.
    assert [event.result for event in world.events.of(LedgerEvent)] == ["settled"] * 3
    world.say(QUESTION, "m1", conversation)
    check_answered_once(world.messages(conversation), "m0", "m1", "m2")


def test_what_is_erased_while_the_model_writes_stays_erased(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id
    meanwhile(world, world.shelf.conversations.clear)
    assert refused(lambda: world.say(QUESTION, "m1", conversation)).code is ErrorCode.NOT_FOUND
    assert "lost" not in results(world)
    assert [event.result for event in world.events.of(LedgerEvent)] == ["settled"] * 2
    assert refused(lambda: world.say(QUESTION, "m1", conversation)).code is ErrorCode.NOT_FOUND
    assert not world.shelf.conversations


def test_what_was_erased_and_came_back_is_another_conversation(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id
    place = owned(world.scope(), conversation)
    imported = replace(world.shelf.conversations[place], incarnation="imported")
    meanwhile(world, lambda: world.shelf.conversations.update({place: imported}))
    assert refused(lambda: world.say(QUESTION, "m1", conversation)).code is ErrorCode.NOT_FOUND
    assert world.shelf.conversations == {place: imported}


def test_a_permission_that_ends_before_the_claim_ends_the_turn(world: TurnWorld) -> None:
    world.directory.grant("acme", "u1")
    caller = member(world)
    world.directory.revoke("acme", "u1")
    assert isinstance(refused(lambda: world.say(caller=caller)), Denied)
    assert not world.shelf.conversations
    assert not world.model.prompts


def test_a_permission_that_ends_between_claim_and_load_ends_the_turn(world: TurnWorld) -> None:
    world.directory.grant("acme", "u1")
    conversation = world.say("Hello", "m0", caller=member(world)).conversation_id
    claim = world.turns.claim
    world.turns.claim = lambda *args: (claim(*args), world.directory.revoke("acme", "u1"))[0]  # type: ignore[method-assign]
    error = refused(lambda: world.say(QUESTION, "m1", conversation, caller=member(world)))
    assert isinstance(error, Denied)
    assert error.code is ErrorCode.NOT_FOUND
    assert len(world.model.prompts) == 1
    assert [event.at for event in world.events.of(AuthorizationEvent) if event.decision == "denied"] == ["turn"]


def test_a_permission_that_ends_while_the_model_writes_ends_the_turn(world: TurnWorld) -> None:
    world.directory.grant("acme", "u1")
    caller = member(world)
    conversation = world.say("Hello", "m0", caller=caller).conversation_id
    meanwhile(world, lambda: world.directory.revoke("acme", "u1"))
    error = refused(lambda: world.say(QUESTION, "m1", conversation, caller=caller))
    assert isinstance(error, Denied)
    assert (error.code, error.reason) == (ErrorCode.NOT_FOUND, "suspended")
    assert [event.at for event in world.events.of(AuthorizationEvent) if event.decision == "denied"] == ["turn"]
    assert "lost" not in results(world)
    # It was paid, and the bill says so. The question waits, as after every failure, should they ever come back.
    assert [event.result for event in world.events.of(LedgerEvent)] == ["settled"] * 2
    kept = world.messages(conversation, caller=caller)
    assert [(one.id, one.status) for one in kept][2:] == [("m1", MessageStatus.PENDING)]
    world.directory.grant("acme", "u1")
    world.say(QUESTION, "m1", conversation, caller=member(world))
    check_answered_once(world.messages(conversation, caller=member(world)), "m0", "m1")


def test_a_permission_that_changes_while_the_model_writes_costs_no_answer(world: TurnWorld) -> None:
    world.directory.grant("acme", "u1")
    meanwhile(world, lambda: world.directory.grant("acme", "u1"))
    answer = world.say(caller=member(world))
    check_answered_once(world.messages(answer.conversation_id, caller=member(world)), "m1")


def test_a_permission_that_changes_and_still_holds_is_looked_at_again(world: TurnWorld) -> None:
    world.directory.grant("acme", "u1")
    caller = member(world)
    world.directory.grant("acme", "u1")
    answer = world.say(caller=caller)
    context = world.shelf.answers[("acme", "member:u1", "m1")][1][1]
    assert context is not None
    assert context.permission_version == 2
    check_answered_once(world.messages(answer.conversation_id, caller=member(world)), "m1")


class BrokenDocuments(FakeDocuments):
    """Has no documents, for a reason."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(SMALL_SITE)
        self.code = code

    def current(self, now: datetime) -> DocumentSet:
        raise FencepostError(self.code)


def context_of(world: TurnWorld, answer: TurnAnswer) -> AnswerContext:
    pointer = world.shelf.pointers[owned(world.scope(), answer.message_id)]
    context = world.conversations.context(world.scope(), pointer, answer.answer.id)
    assert context is not None
    return context


def test_a_turn_goes_on_without_documents_that_cannot_be_had_and_says_so(world: TurnWorld) -> None:
    documents, world.documents = world.documents, BrokenDocuments(ErrorCode.DOCUMENTS_UNAVAILABLE)
    answer = world.say()
    assert answer.answer.degraded
    assert context_of(world, answer).degraded
    assert [one.degraded for one in world.messages(answer.conversation_id)] == [False, True]
    assert world.model.prompts[0].sources == ()
    world.documents = documents
    assert world.say() == answer
    whole = world.say("And then?", "m2", answer.conversation_id)
    assert not whole.answer.degraded
    assert not context_of(world, whole).degraded
    assert world.model.prompts[1].sources


def test_a_site_without_documentation_answers_without_and_lacks_nothing(world: TurnWorld) -> None:
    world.site = replace(world.site, documents_url="")
    world.documents = BrokenDocuments(ErrorCode.MISCONFIGURED)
    answer = world.say()
    assert not answer.answer.degraded
    assert not context_of(world, answer).degraded
    assert world.model.prompts[0].sources == ()


def test_no_prompt_is_made_when_the_documents_fail_otherwise_and_a_retry_finishes(world: TurnWorld) -> None:
    documents, world.documents = world.documents, BrokenDocuments(ErrorCode.MISCONFIGURED)
    assert refused(world.say).code is ErrorCode.MISCONFIGURED
    assert world.books.writes == 0
    world.documents = documents
    check_answered_once(world.messages(world.say().conversation_id), "m1")


def test_an_answer_made_of_nothing_is_paid_and_not_stored(world: TurnWorld) -> None:
    reply = world.model.reply
    world.model.reply = lambda: replace(reply(), text="[doc:unknown#1]")
    assert refused(world.say).code is ErrorCode.PROVIDER_FAILED
    assert world.books.open_marks(world.clock.now.date()) == set()
    assert [event.result for event in world.events.of(LedgerEvent)] == ["settled"]


def test_the_audit_view_says_what_went_in(world: TurnWorld) -> None:
    answer = world.say()
    context = context_of(world, answer)
    assert context.cost_microdollars == 150
    assert [use.layer for use in context.layers] == ["rules", "facts", "summary", "history", "context", "message"]
    assert world.scope().owner == ANN.owner


def test_the_event_tells_how_many_sections_the_prompt_had(world: TurnWorld) -> None:
    trace = Trace()
    world.service().answer(ANN, TurnRequest(message="How do I install it?", message_id="m1"), trace)
    assert trace.fetched is not None
    assert trace.fetched.sections == len(world.model.prompts[0].sources) > 0
