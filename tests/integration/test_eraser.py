"""What is erased is gone from table and bucket, to the last row, and nothing beside it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fencepost.blobs import domain as objects
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Action, Scope
from fencepost.lifecycle.dynamodb.erasure_scan import ErasureScan
from fencepost.lifecycle.dynamodb.removal import Removal
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


def test_a_conversation_goes_with_all_that_hangs_on_it(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "doomed")
    assert world.eraser.forget_conversation(scope, "doomed", NOON)
    swept = world.eraser.sweep(scope, "doomed", PLENTY)
    assert swept == {
        "messages": 6, "pointers": 3, "archives": 1, "summaries": 1, "facts": 1, "jobs": 1, "objects": 3
    }  # fmt: skip
    assert world.naming("doomed") == []
    assert world.eraser.leftovers(scope, "doomed") == {}


def test_nothing_of_anybody_or_anything_else_is_touched(world: ErasureWorld, scope: Scope) -> None:
    others = visitor_scope("acme", "v2"), visitor_scope("globex", "v1"), visitor_scope("acme", "v1 ")
    for other in others:
        world.plant(other, "doomed")
    world.plant(scope, "kept")
    world.attach(scope, "file")
    world.remember(scope, "written by hand")
    world.remember(scope, "of another", "kept-q1")
    before = world.everything()
    world.begin(scope, "doomed")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    world.eraser.sweep(scope, "doomed", PLENTY)
    rows, stored = world.everything()
    assert (rows - {(keys.owner(scope), "gone#doomed")}, stored) == before


def test_a_bundle_whose_export_died_before_it_said_so_is_found(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "doomed")
    world.export(scope, "living", "another")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    world.eraser.sweep(scope, "doomed", PLENTY)
    world.blobs.put(scope, objects.export_bundle("dead"), b"zip", "application/zip")
    assert world.eraser.leftovers(scope, "doomed") == {"objects": 1}
    assert world.eraser.sweep(scope, "doomed", PLENTY) == {"objects": 1}
    assert [*world.blobs.names(scope, "")] == ["exports/living.zip"]


def test_files_go_with_the_last_conversation_that_uses_them(world: ErasureWorld, scope: Scope) -> None:
    for conversation_id in ("one", "two"):
        world.begin(scope, conversation_id)
    world.attach(scope, "of-one", "one")
    world.attach(scope, "of-both", "one", "two")
    world.attach(scope, "of-two", "two")
    world.attach(scope, "of-none")
    assert erased(world, scope, "one") == {"messages": 6, "pointers": 3, "attachments": 1, "objects": 2}
    assert world.naming("of-one") == []
    assert len(world.naming("of-both", "of-two", "of-none")) == 9
    assert erased(world, scope, "two") == {"messages": 6, "pointers": 3, "attachments": 2, "objects": 4}
    assert len(world.naming("of-")) == len(world.naming("of-none")) == 3
    assert world.eraser.leftovers(scope, "two") == {}


def test_the_verifier_sees_a_file_that_is_left_and_what_is_stored_of_one(world: ErasureWorld, scope: Scope) -> None:
    world.begin(scope, "doomed", turns=0)
    world.attach(scope, "file", "doomed")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    assert world.eraser.leftovers(scope, "doomed") == {"attachments": 1}
    world.tables.client.delete_item(
        TableName=world.tables.conversations, Key=conversations_keys.file_row(scope, "file")
    )
    assert world.eraser.leftovers(scope, "doomed") == {"objects": 2}
    assert world.eraser.sweep(scope, "doomed", PLENTY) == {"objects": 2}
    assert world.eraser.leftovers(scope, "doomed") == {}


def test_an_upload_that_comes_after_its_file_went_is_found_by_the_second_look(
    world: ErasureWorld, scope: Scope
) -> None:
    world.begin(scope, "doomed")
    world.attach(scope, "file", "doomed")
    erased(world, scope, "doomed")
    world.blobs.put(scope, objects.attachment("file"), b"again", "text/plain")
    assert world.eraser.leftovers(scope, "doomed") == {"objects": 1}
    assert world.eraser.sweep(scope, "doomed", PLENTY) == {"objects": 1}


def test_a_file_that_another_conversation_comes_to_use_while_it_is_looked_for_stays(
    world: ErasureWorld, scope: Scope
) -> None:
    table, client = world.tables.conversations, lambda: world.tables.client
    world.begin(scope, "doomed")
    world.attach(scope, "file", "doomed")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    seen = list(ErasureScan(table, world.blobs, client).files(scope, "doomed"))
    world.begin(scope, "new")
    world.attach(scope, "file", "doomed", "new")
    assert len(seen) == 1
    assert Removal(table, client).remove_unused(seen) == 0
    assert "attachments" not in world.eraser.sweep(scope, "doomed", PLENTY)
    assert world.eraser.leftovers(scope, "doomed") == {}
    assert len([*world.blobs.names(scope, objects.FILES)]) == 2


def test_a_file_of_another_owner_with_the_same_names_stays(world: ErasureWorld, scope: Scope) -> None:
    other = visitor_scope("acme", "v2")
    world.attach(other, "file", "doomed")
    before = world.everything()
    world.begin(scope, "doomed", turns=0)
    assert erased(world, scope, "doomed") == {}
    rows, stored = world.everything()
    assert (rows - {(keys.owner(scope), "gone#doomed")}, stored) == before


def erased(world: ErasureWorld, scope: Scope, conversation_id: str) -> dict[str, int]:
    """Erase a conversation in one sweep, and return what that removed."""
    assert world.eraser.forget_conversation(scope, conversation_id, NOON)
    return world.eraser.sweep(scope, conversation_id, PLENTY)


def test_ids_that_begin_alike_are_two_conversations(world: ErasureWorld, scope: Scope) -> None:
    for conversation_id in ("a", "a#conv#b", "ab", "a/b"):
        world.plant(scope, conversation_id)
    world.eraser.forget_conversation(scope, "a", NOON)
    world.eraser.sweep(scope, "a", PLENTY)
    for conversation_id in ("a#conv#b", "ab", "a/b"):
        assert world.tables.conversation(scope, conversation_id)
        assert len(world.tables.messages(scope, conversation_id)) == 6
        assert [*world.blobs.names(scope, objects.conversation(conversation_id))]


def test_bundles_that_may_hold_the_conversation_go_and_others_stay(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "doomed")
    world.export(scope, "of-all", None)
    world.export(scope, "of-another", "another")
    imported = job_record(scope, "imported", Purpose.IMPORT)
    world.put(imported, queue_rows.job_row(scope, "imported"))
    world.blobs.put(scope, objects.import_bundle("imported"), b"zip", "application/zip")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    world.eraser.sweep(scope, "doomed", PLENTY)
    assert sorted(world.blobs.names(scope, "")) == ["exports/of-another.zip"]


def test_what_is_absent_or_foreign_is_not_erased(world: ErasureWorld, scope: Scope) -> None:
    world.plant(visitor_scope("acme", "v2"), "theirs")
    before = world.everything()
    assert not world.eraser.forget_conversation(scope, "theirs", NOON)
    assert not world.eraser.forget_conversation(scope, "nowhere", NOON)
    assert world.eraser.sweep(scope, "theirs", PLENTY) == {}
    assert world.everything() == before


def test_a_conversation_that_was_not_forgotten_is_not_swept(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "living")
    before = world.everything()
    assert world.eraser.sweep(scope, "living", PLENTY) == {}
    assert world.eraser.leftovers(scope, "living") == {}
    assert world.everything() == before


@pytest.mark.parametrize("budget", [1, 2, 5, 7])
def test_small_sweeps_add_up_to_one_big_one(world: ErasureWorld, scope: Scope, budget: int) -> None:
    world.plant(scope, "doomed")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    rows = 0
    while swept := world.eraser.sweep(scope, "doomed", budget):
        assert sum(swept.values()) - swept.get("objects", 0) - swept.get("facts", 0) <= budget
        rows += sum(swept.values())
    assert rows == 16
    assert world.naming("doomed") == []


def test_facts_and_bundles_go_first_for_other_rows_tell_whose_they_are(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "doomed")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    assert world.eraser.sweep(scope, "doomed", 1) == {"facts": 1, "jobs": 1, "objects": 3}


def test_the_verifier_sees_each_kind_that_is_left(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "doomed")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    assert world.eraser.leftovers(scope, "doomed") == {
        "messages": 6, "pointers": 3, "archives": 1, "summaries": 1, "facts": 1, "jobs": 1, "objects": 2
    }  # fmt: skip


def test_what_a_dying_turn_left_in_the_bucket_is_found_by_the_second_look(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "doomed")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    world.eraser.sweep(scope, "doomed", PLENTY)
    world.blobs.put(scope, objects.big_content("doomed", 8, b"late"), b"late", "text/plain")
    assert world.eraser.leftovers(scope, "doomed") == {"objects": 1}
    assert world.eraser.sweep(scope, "doomed", PLENTY) == {"objects": 1}
    assert world.naming("doomed") == []


def test_a_conversation_that_came_back_is_left_alone(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "twice")
    world.eraser.forget_conversation(scope, "twice", NOON)
    world.eraser.sweep(scope, "twice", PLENTY)
    world.plant(scope, "twice")
    before = world.everything()
    assert world.eraser.sweep(scope, "twice", PLENTY) == {}
    assert world.eraser.leftovers(scope, "twice") == {}
    assert world.everything() == before


def test_the_tombstone_says_while_it_is_swept(world: ErasureWorld, scope: Scope) -> None:
    world.plant(scope, "doomed")
    world.eraser.forget_conversation(scope, "doomed", NOON)
    assert _stone(world, scope)["sweeping"] == {"BOOL": True}
    world.eraser.sweep(scope, "doomed", 3)
    assert "sweeping" in _stone(world, scope)
    world.eraser.sweep(scope, "doomed", PLENTY)
    assert "sweeping" not in _stone(world, scope)


def _stone(world: ErasureWorld, scope: Scope) -> dict[str, object]:
    key = conversations_keys.gone_row(scope, "doomed")
    answer = world.tables.client.get_item(TableName=world.tables.conversations, Key=key, ConsistentRead=True)
    return dict(answer["Item"])


def test_many_erasers_at_once_leave_nothing_and_fail_nowhere(world: ErasureWorld, scope: Scope) -> None:
    for number in range(6):
        world.plant(scope, f"doomed-{number}", turns=5)
    with ThreadPoolExecutor(4) as pool:
        for running in [pool.submit(world.eraser.forget_owner, scope, NOON) for _ in range(4)]:
            running.result()
        for swept in [pool.submit(world.eraser.sweep, scope, None, PLENTY) for _ in range(4)]:
            swept.result()
    assert world.naming("doomed") == []
    assert world.eraser.leftovers(scope, None) == {}
