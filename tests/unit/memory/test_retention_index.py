"""What retention removes goes from the index before it goes from the table."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.service.message_entries import MessageEntries
from fencepost.memory.service.remember import RememberService
from fencepost.queue.domain import Purpose
from tests.fakes.answers import Fault
from tests.fakes.conversations import owned
from tests.fakes.corpus import FakeJobQueue
from tests.fakes.index import FakeEmbedder, FakeIndex
from tests.fakes.parts import FakeParts
from tests.worlds.archive_scenes import ALICE, archived
from tests.worlds.remember import paragraphs
from tests.worlds.storage import NOON, StorageWorld

EXCHANGES = 10


class Town:
    """A conversation of ten days with what the index holds of it; `days` later."""

    def __init__(self, days: int) -> None:
        self.world = StorageWorld()
        self.world.talk(ALICE, exchanges=EXCHANGES, every=timedelta(days=1))
        self.parts, self.index = FakeParts(self.world.shelf), FakeIndex()
        self.world.entries = MessageEntries(self.parts, self.index)
        self.world.jobs.conversation = lambda scope, name: self.world.shelf.conversations.get(owned(scope, name))
        self.remember()
        self.world.site(days=3)
        self.world.clock.now = NOON + timedelta(days=days)

    def remember(self, *, revises: bool = False) -> None:
        service = RememberService(
            conversations=self.world.conversations,
            entries=MessageEntries(self.parts, self.index),
            embedder=FakeEmbedder(),
            jobs=self.world.jobs,
            queue=FakeJobQueue(),
            sites=self.world.sites,
            chunker=paragraphs,
            clock=self.world.clock,
        )
        service.run(ALICE, replace(self.world.archive_job(ALICE), purpose=Purpose.REMEMBER, revises=revises))

    @property
    def found(self) -> list[int]:
        return sorted(entry.position for entry in self.index.entries.values())

    @property
    def known(self) -> list[int]:
        return [row.seq for row in self.parts.rows_of(ALICE, "c1")]


def test_what_is_not_kept_is_not_found_any_more() -> None:
    town = Town(days=9)
    archived(town.world)
    assert town.found == town.known == list(range(13, 21))
    town.remember(revises=True)
    assert town.found == town.known == list(range(13, 21))
    assert not [entry for entry in town.index.entries.values() if "Question 5" in entry.context]


def test_messages_stay_until_the_index_has_let_go_of_them() -> None:
    town = Town(days=9)
    town.index.faults.at(0, "before")
    with pytest.raises(FencepostError) as caught:
        archived(town.world)
    assert caught.value.code is ErrorCode.INDEX_UNAVAILABLE
    assert len(town.world.shelf.messages[owned(ALICE, "c1")]) == 2 * EXCHANGES
    archived(town.world)
    assert town.found == town.known == list(range(13, 21))


@pytest.mark.parametrize("fault", ["before", "after"])
@pytest.mark.parametrize("call", range(6))
@pytest.mark.parametrize("store", ["parts", "index"])
def test_a_conversation_that_ends_leaves_nothing_whatever_fails(store: str, call: int, fault: Fault) -> None:
    town = Town(days=1_000)
    place = owned(ALICE, "c1")
    town.world.shelf.conversations[place] = replace(town.world.row(ALICE), keep_days=3)
    town.index.upsert(ALICE, list(town.index.entries.values())[:1])  # No row knows it.
    faults = town.parts.faults if store == "parts" else town.index.faults
    faults.at(call, fault)
    for _ in range(3):
        try:
            archived(town.world)
            break
        except FencepostError:
            assert town.world.shelf.conversations, "nothing leads to what is left"
    assert not town.world.shelf.conversations
    assert (town.found, town.known) == ([], [])
