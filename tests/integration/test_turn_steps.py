"""Five sequential steps to the stores, whatever the conversation's length."""

from __future__ import annotations

from collections import Counter
from threading import Barrier, Lock
from typing import Any, cast

import pytest
from botocore.awsrequest import AWSPreparedRequest

from local.emulator import Emulator
from tests.integration.tables import sent_operations
from tests.integration.turn_front import TurnFront, turn_front

STEPS = (
    Counter(UpdateItem=1, GetItem=1),
    Counter(TransactWriteItems=1),
    Counter(BatchGetItem=1, Query=2),
    Counter(UpdateItem=2),
    Counter(TransactWriteItems=1, UpdateItem=2),
)
"""Limit and membership · claim · load · reserve, on the deployment's bill and the site's · settle, with both bills."""


class Steps:
    """Lets no operation leave before all of its step are there: were they made one after another, none would leave."""

    def __init__(self) -> None:
        self.seen: list[Counter[str]] = []
        self._barriers = [Barrier(step.total(), timeout=60) for step in STEPS]
        self._lock = Lock()
        self._count = 0

    def arrive(self, request: AWSPreparedRequest, **_: Any) -> None:
        operation = cast("bytes", request.headers["X-Amz-Target"]).decode().rpartition(".")[2]
        with self._lock:
            step = self._step(self._count)
            self._count += 1
            if len(self.seen) == step:
                self.seen.append(Counter())
            self.seen[step][operation] += 1
        self._barriers[step].wait()

    def _step(self, place: int) -> int:
        """Return the step that the operation with this number is of."""
        for number, step in enumerate(STEPS):
            if place < step.total():
                return number
            place -= step.total()
        raise AssertionError("more operations than a turn may make")


@pytest.fixture(scope="module")
def front(emulator: Emulator) -> TurnFront:
    return turn_front(emulator.endpoint_url)


@pytest.mark.parametrize("messages", [0, 10, 10_000])
def test_a_turn_is_five_steps_whatever_the_conversations_length(front: TurnFront, messages: int) -> None:
    front.converse(f"c{messages}", messages // 2)
    # The directory's copies of organisation and site are seconds old in any warm process.
    assert front.say("Hello").status == 200
    client, steps = front.stored.tables.client, Steps()
    client.meta.events.register_last("before-send.dynamodb", steps.arrive)
    try:
        reply = front.say("How do I install it?", f"c{messages}")
    finally:
        client.meta.events.unregister("before-send.dynamodb", steps.arrive)
    assert reply.status == 200, front.stored.world.events.unexpected
    assert tuple(steps.seen) == STEPS
    row = front.stored.tables.conversation(front.scope, f"c{messages}")
    assert row is not None
    assert row.next_seq == messages + 3


def test_a_retry_reads_three_rows_and_pays_nothing(front: TurnFront) -> None:
    sent = sent_operations(front.stored.tables.client)
    world = front.stored.world
    calls = len(world.model.prompts)
    answer = world.say("Retried", "m-retry")
    before = len(sent)
    assert world.say("Retried", "m-retry") == answer
    assert sorted(sent[before:]) == ["GetItem", "GetItem", "TransactWriteItems"]
    assert len(world.model.prompts) == calls + 1
