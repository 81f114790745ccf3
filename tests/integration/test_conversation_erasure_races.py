"""Whatever writes while a conversation is erased, at whatever moment: nothing of it is there afterwards.

Each writer is interrupted before each of its requests to the store by a whole erasure, and each erasure before each of
its requests by a whole writer. After the second look of the erasure, nothing may be left of what was erased.
"""

from __future__ import annotations

from itertools import count

import pytest

from fencepost.identity.domain.scope import Scope
from local.emulator import Emulator
from tests.conformance.samples import visitor_scope
from tests.integration.erasure_content import DOOMED
from tests.integration.erasure_interrupted import (
    PLENTY,
    STEP,
    Stores,
    Writer,
    finished,
    planted,
    quietly,
    second_look,
    uninterrupted,
)
from tests.integration.erasure_world import NOON, ErasureWorld, open_erasure_world
from tests.integration.erasure_writers import THAT_STORE_ROWS, WRITERS


@pytest.fixture
def world(emulator: Emulator) -> ErasureWorld:
    return open_erasure_world(emulator)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_writer_that_is_interrupted_by_the_erasure_of_its_conversation(
    world: ErasureWorld, scope: Scope, writer: Writer
) -> None:
    def erased() -> None:
        assert world.eraser.forget_conversation(scope, DOOMED, NOON)
        world.eraser.sweep(scope, DOOMED, PLENTY)

    for moment in count():
        stores = planted(world, scope, moment, erased)
        ended = finished(stores, writer)
        if ended:
            break
        second_look(world, scope, DOOMED)
        assert world.naming(DOOMED) == [], moment
    assert moment > 0


@pytest.mark.parametrize("writer", THAT_STORE_ROWS)
def test_an_erasure_of_a_conversation_that_is_interrupted_by_a_writer(
    world: ErasureWorld, scope: Scope, writer: Writer
) -> None:
    def erase(stores: Stores) -> None:
        assert stores.eraser.forget_conversation(scope, DOOMED, NOON)
        stores.eraser.sweep(scope, DOOMED, PLENTY)

    for moment in count(step=STEP):
        stores = planted(world, scope, moment, lambda: quietly(uninterrupted(world, scope), writer))
        ended = finished(stores, erase)
        second_look(world, scope, DOOMED)
        assert world.naming(DOOMED) == [], moment
        if ended:
            break
    assert moment > 3
