"""What happens to turns in more than one test: they vanish, they are refused, and a member asks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fencepost.identity.domain.scope import Member
from fencepost.kernel.errors import FencepostError
from fencepost.observability.domain.events import LeaseEvent
from tests.worlds.turn import Killed, Process, TurnWorld

QUESTION = "How do I install it?"


def start(world: TurnWorld, message_id: str = "m1", conversation: str | None = None) -> None:
    """Let a turn begin, and its process vanish before it reaches the model."""
    with pytest.raises(Killed):
        world.say(QUESTION, message_id, conversation, process=Process(("ledger.reserve", "before")))


def results(world: TurnWorld) -> list[str]:
    return [event.result for event in world.events.of(LeaseEvent)]


def refused(call: Callable[[], object]) -> FencepostError:
    with pytest.raises(FencepostError) as failed:
        call()
    return failed.value


def member(world: TurnWorld) -> Member:
    return Member("acme", "u1", world.directory.memberships.get(("acme", "u1")))
