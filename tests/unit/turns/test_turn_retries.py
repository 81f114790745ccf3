"""What a retry must bring, and how long it may wait."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode
from fencepost.model.domain import LATEST_START_SECONDS
from fencepost.turns.domain.turns import JOIN_SECONDS, LEASE, Claim, ClaimRefused, fingerprint
from tests.fakes.conversations import owned
from tests.worlds.turn import Killed, Process, TurnWorld
from tests.worlds.turn_rules import check_answered_once
from tests.worlds.turn_scenes import QUESTION, refused, results, start


@pytest.fixture
def world() -> TurnWorld:
    return TurnWorld()


def attached(world: TurnWorld) -> None:
    world.attached = lambda _scope, ids: [AttachedText(one, f"{one}.txt", "Words.") for one in ids]


@pytest.mark.parametrize("other", [(), ("f2",), ("f1", "f2"), ("f2", "f1")])
def test_a_retry_brings_the_same_files(world: TurnWorld, other: tuple[str, ...]) -> None:
    attached(world)
    answer = world.say(attachments=("f1",))
    assert refused(lambda: world.say(attachments=other)).code is ErrorCode.MESSAGE_ID_REUSED
    assert world.say(attachments=("f1",)) == answer
    assert len(world.model.prompts) == 1


def test_a_dead_turns_files_are_its_retrys(world: TurnWorld) -> None:
    attached(world)
    with pytest.raises(Killed):
        world.say(attachments=("f1",), process=Process(("model.complete", "after")))
    world.clock.advance(LEASE.total_seconds())
    assert refused(lambda: world.say(attachments=("f2",))).code is ErrorCode.MESSAGE_ID_REUSED
    assert refused(world.say).code is ErrorCode.MESSAGE_ID_REUSED
    conversation = world.say(attachments=("f1",)).conversation_id
    assert world.messages(conversation)[0].attachments == ("f1",)


def test_a_file_that_was_erased_meanwhile_leaves_no_question_behind(world: TurnWorld) -> None:
    attached(world)
    world.turns.erased_files.add("f1")
    assert refused(lambda: world.say(attachments=("f1",))).code is ErrorCode.ATTACHMENTS_INVALID
    assert (world.shelf.pointers, world.model.prompts) == ({}, [])


@given(st.text(), st.lists(st.from_regex(r"[!-~]{1,8}", fullmatch=True), min_size=1), st.lists(st.text("ab12")))
def test_questions_are_told_apart_by_their_text_and_their_files(text: str, files: list[str], other: list[str]) -> None:
    assert fingerprint(text) == hashlib.sha256(text.encode()).hexdigest()
    assert fingerprint(text, files) != fingerprint(text)
    assert (fingerprint(text, files) == fingerprint(text, other)) == (files == other)


def test_a_join_that_leaves_too_little_time_is_told_to_come_back(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id
    start(world, "m1", conversation)
    world.hold(owned(world.scope(), conversation), seconds=JOIN_SECONDS - 1)
    error = refused(lambda: world.say(QUESTION, "m1", conversation))
    assert (error.code, error.retry_after) == (ErrorCode.CONVERSATION_BUSY, 1)
    assert results(world)[-1] == "busy"
    assert len(world.model.prompts) == 1
    world.pauses.clear()
    world.say(QUESTION, "m1", conversation)
    assert world.pauses == []
    check_answered_once(world.messages(conversation), "m0", "m1")


def test_a_join_that_leaves_time_enough_goes_on_with_the_turn(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id
    start(world, "m1", conversation)
    world.hold(owned(world.scope(), conversation), seconds=LATEST_START_SECONDS - 1)
    world.say(QUESTION, "m1", conversation)
    assert results(world)[-1] == "resumed"


def test_a_slow_store_counts_towards_the_time_that_a_join_has(world: TurnWorld) -> None:
    start(world)
    world.clock.advance(1)
    at_once = world.turns.claim

    def slowly(scope: Scope, claim: Claim) -> ClaimRefused | None:
        world.clock.advance(2)
        return at_once(scope, claim)

    world.turns.claim = slowly  # type: ignore[method-assign]  # a slow store
    began = world.clock()
    assert refused(world.say).code is ErrorCode.CONVERSATION_BUSY
    assert (world.clock() - began).total_seconds() < JOIN_SECONDS + 3
