"""Worlds to export and to import into, and all that can be told of one from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fencepost.conversations.domain.archives import MIN_ROWS
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.summaries import Summary, SummaryLine
from tests.worlds.storage import BOB, NOON, StorageWorld, scope_of

ALICE = scope_of()
FACTS = (
    Fact(id="f1", text="Likes fences.", state=FactState.PINNED, pinned_by="owner", created_at=NOON),
    Fact(id="f2", text="Has a dog.", state=FactState.SUPERSEDED, pinned_by="job", created_at=NOON, superseded_by="f1"),
)
SUMMARY = Summary(
    id="s1",
    lines=(SummaryLine("Fences were discussed.", ("msg:c1-q1",)),),
    first_seq=1,
    last_seq=2,
    content_hash="0" * 64,
    prompt_version="1",
    model="m",
    created_at=NOON,
)


def furnished() -> StorageWorld:
    """Return a world in which Alice has two conversations, a summary and facts, and Bob one conversation."""
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, "c1", exchanges=3)
    world.talk(ALICE, "c2", exchanges=60)
    world.talk(scope_of(BOB), "c3")
    world.memory.write_facts(ALICE, FACTS)
    world.memory.write_summary(ALICE, "c1", "c1-1", SUMMARY)
    return world


def fails(work: Callable[..., object], *arguments: object) -> ErrorCode:
    with pytest.raises(FencepostError) as caught:
        work(*arguments)
    return caught.value.code


def emptied(world: StorageWorld) -> StorageWorld:
    """Return a world with the same secrets in which nothing was ever said."""
    fresh = StorageWorld(keys=world.keys)
    fresh.site(rows=MIN_ROWS)
    return fresh


def snapshot(world: StorageWorld) -> tuple[object, ...]:
    """Return all that can be told from outside."""
    shelf = world.shelf
    return (
        {place: replace(row, incarnation="") for place, row in shelf.conversations.items()},
        dict(shelf.messages),
        dict(shelf.pointers),
        dict(shelf.answers),
        world.memory.facts(ALICE, *FactState),
        world.memory.summary(ALICE, "c1"),
    )
