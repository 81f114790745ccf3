"""Everything of an owner is erased on the emulated cloud: whole, at its time, and nobody else's."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.conversations.rows import messages as conversations_keys
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Action, Scope
from fencepost.queue import rows as queue_rows
from fencepost.queue.domain import Purpose
from local.emulator import Emulator
from tests.conformance.samples import visitor_scope
from tests.integration.erasure_world import NOON, ErasureWorld, job_record, open_erasure_world

PLENTY = 1_000


@pytest.fixture
def world(emulator: Emulator) -> ErasureWorld:
    return open_erasure_world(emulator)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(action=Action.ERASE)


def test_everything_of_an_owner_goes(world: ErasureWorld, scope: Scope) -> None:
    for conversation_id in ("one", "two"):
        world.plant(scope, conversation_id)
    world.attach(scope, "file")
    world.remember(scope, "by hand")
    assert world.eraser.forget_owner(scope, NOON) == {"conversations": 2, "facts": 3, "attachments": 1, "jobs": 2}
    assert world.eraser.sweep(scope, None, PLENTY) == {
        "messages": 12, "pointers": 6, "archives": 2, "summaries": 2, "objects": 8
    }  # fmt: skip
    rows, stored = world.everything()
    assert rows == {(keys.owner(scope), name) for name in ("erased", "gone#one", "gone#two", "work#facts")}
    assert stored == set()
    assert world.eraser.leftovers(scope, None) == {}


def test_another_owner_of_the_same_organisation_keeps_everything(world: ErasureWorld, scope: Scope) -> None:
    other = visitor_scope("acme", "v2")
    world.plant(other, "one")
    before = world.everything()
    world.plant(scope, "one")
    world.eraser.forget_owner(scope, NOON)
    world.eraser.sweep(scope, None, PLENTY)
    assert world.naming("v2")
    assert not world.naming("v1#conv#", "v1/")
    rows, stored = world.everything()
    assert {row for row in rows if "v2" in row[0]} == before[0]
    assert stored == before[1]


def test_records_of_erasures_outlive_their_owners_data(world: ErasureWorld, scope: Scope) -> None:
    world.put(job_record(scope, "receipt", Purpose.ERASE), queue_rows.job_row(scope, "receipt"))
    assert world.eraser.forget_owner(scope, NOON) == {}
    assert (keys.owner(scope), "job#receipt") in world.everything()[0]


def test_what_begins_after_the_erasure_stays_while_the_rest_is_swept(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "old")
    world.eraser.forget_owner(scope, NOON)
    world.eraser.sweep(scope, None, 2)
    world.plant(scope, "new")
    world.attach(scope, "new-file")
    while world.eraser.sweep(scope, None, 5):
        pass
    assert world.naming("old") == []
    assert len(world.tables.messages(scope, "new")) == 6
    assert len([*world.blobs.names(scope, "")]) == 5
    assert world.eraser.leftovers(scope, None) == {}


def test_an_import_that_an_erasure_interrupts_leaves_nothing(world: ErasureWorld, scope: Scope) -> None:
    row = world.plant(scope, "half")
    client, table = world.tables.client, world.tables.conversations
    client.delete_item(TableName=table, Key=keys.conversation_row(scope, "half"))
    world.put(row, conversations_keys.import_row(scope, "half"))
    assert world.eraser.leftovers(scope, None) == {}
    world.eraser.forget_owner(scope, NOON)
    world.eraser.sweep(scope, None, PLENTY)
    assert world.naming("half") == []


def test_a_later_time_of_an_erasure_stands(world: ErasureWorld, scope: Scope) -> None:
    world.eraser.forget_owner(scope, NOON + timedelta(seconds=1))
    world.eraser.forget_owner(scope, NOON)
    answer = world.tables.client.get_item(
        TableName=world.tables.conversations, Key=conversations_keys.erased_row(scope), ConsistentRead=True
    )
    assert answer["Item"]["erased_at"] == {"S": "2026-03-01T12:00:01.000000Z"}
