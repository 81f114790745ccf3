"""Whatever writes while everything of an owner is erased, at whatever moment: nothing of it is there afterwards.

Each writer is interrupted before each of its requests to the store by a whole erasure, and each erasure before each of
its requests by a whole writer. After the second look of the erasure, nothing may be left of what was erased.
"""

from __future__ import annotations

from itertools import count

import pytest

from fencepost.identity.domain.scope import Scope
from local.emulator import Emulator
from tests.conformance.samples import visitor_scope
from tests.integration.erasure_interrupted import (
    PLENTY,
    STEP,
    Stores,
    Writer,
    finished,
    left,
    planted,
    quietly,
    second_look,
    uninterrupted,
)
from tests.integration.erasure_world import NOON, ErasureWorld, open_erasure_world
from tests.integration.erasure_writers import (
    WRITERS_OF_OWNERS,
    a_turn,
    an_approved_fact,
    an_import,
    imported_facts,
    proposed_facts,
)


@pytest.fixture
def world(emulator: Emulator) -> ErasureWorld:
    return open_erasure_world(emulator)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope()


@pytest.mark.parametrize("writer", WRITERS_OF_OWNERS)
def test_a_writer_that_is_interrupted_by_the_erasure_of_its_owner(
    world: ErasureWorld, scope: Scope, writer: Writer
) -> None:
    def erased() -> None:
        world.eraser.forget_owner(scope, NOON)
        world.eraser.sweep(scope, None, PLENTY)

    for moment in count():
        stores = planted(world, scope, moment, erased)
        ended = finished(stores, writer)
        if ended:
            break
        second_look(world, scope, None)
        assert left(world, scope) == [], moment
    assert moment > 0


@pytest.mark.parametrize("writer", [an_import, imported_facts, an_approved_fact, proposed_facts, a_turn])
def test_an_erasure_of_an_owner_that_is_interrupted_by_a_writer(
    world: ErasureWorld, scope: Scope, writer: Writer
) -> None:
    """What a writer that began before it brings in on the way is removed as well, or refused."""

    def erase(stores: Stores) -> None:
        stores.eraser.forget_owner(scope, NOON)
        stores.eraser.sweep(scope, None, PLENTY)

    for moment in count(step=STEP):
        stores = planted(world, scope, moment, lambda: quietly(uninterrupted(world, scope), writer))
        ended = finished(stores, erase)
        second_look(world, scope, None)
        assert left(world, scope) == [], moment
        if ended:
            break
    assert moment > 3
