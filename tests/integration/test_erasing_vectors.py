"""What is erased goes from the index as well, through the real stores and whatever is remembered meanwhile."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest

from fencepost.identity.domain.scope import Action, Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.domain.events import ErasureEvent
from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex
from local.emulator import Emulator
from tests.conformance.samples import visitor_scope
from tests.integration.erasure_content import DOOMED, doomed_row
from tests.integration.erasure_interrupted import STEP, Stores, planted, quietly, uninterrupted
from tests.integration.erasure_vectors import Indexed
from tests.integration.erasure_world import ErasureWorld, open_erasure_world
from tests.worlds.thoroughness import EXHAUSTIVE

BOTH = pytest.mark.parametrize("asked", [DOOMED, None], ids=["conversation", "owner"])


@pytest.fixture
def world(emulator: Emulator) -> ErasureWorld:
    return open_erasure_world(emulator)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(action=Action.ERASE)


@pytest.fixture
def indexed(world: ErasureWorld, scope: Scope, tmp_path: Path) -> Indexed:
    """Return somebody whose conversation `doomed` is remembered."""
    world.plant(scope, DOOMED)
    found = Indexed(Stores(world, scope, doomed_row()), tmp_path)
    found.remember()
    return found


def other(indexed: Indexed, scope: Scope, folder: Path) -> Indexed:
    """Return somebody else whose conversation has the same id, and is remembered too."""
    indexed.stores.world.plant(scope, DOOMED)
    found = Indexed(Stores(indexed.stores.world, scope, doomed_row()), folder)
    found.remember()
    return found


@BOTH
def test_entries_and_their_rows_go_and_the_receipt_counts_both(
    indexed: Indexed, tmp_path: Path, asked: str | None
) -> None:
    others = [other(indexed, visitor_scope(*who), tmp_path) for who in (("acme", "v2"), ("globex", "v1"))]
    assert len(indexed.entries()) == 12
    receipt = indexed.erasures.receipt(indexed.stores.scope, indexed.erase(asked))
    assert receipt.verified
    assert {kind: receipt.counts[kind] for kind in ("conversations", "messages", "vectors", "parts")} == {
        "conversations": 1, "messages": 6, "vectors": 6, "parts": 6
    }  # fmt: skip
    assert {entry.owner for entry in indexed.entries()} == {"visitor:v2"}
    for each in others:
        assert len([row for row in each.entries() if row.owner == each.stores.scope.owner]) == 6
        assert len(each.stores.parts.chunks(each.stores.scope, DOOMED)) == 6
    assert indexed.look_again(receipt.id) == receipt.counts


@BOTH
def test_the_verifier_finds_an_entry_that_came_since_and_the_second_look_removes_it(
    indexed: Indexed, asked: str | None
) -> None:
    receipt_id = indexed.erase(asked)
    indexed.plant(DOOMED)
    assert indexed.eraser.leftovers(indexed.stores.scope, asked) == {"vectors": 1}
    assert indexed.look_again(receipt_id)["vectors"] == 7
    assert indexed.entries() == []


def test_an_entry_that_is_left_is_a_finding(indexed: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    receipt_id = indexed.erase(DOOMED)
    indexed.plant(DOOMED)
    monkeypatch.setattr(EmbeddedIndex, "delete", lambda *_: 0)
    with pytest.raises(FencepostError):
        indexed.look_again(receipt_id)
    told = [(event.result, event.left) for event in indexed.events.of(ErasureEvent)]
    assert told[:3] == [("forgotten", 0), ("verified", 0), ("leftovers", 1)]


def test_while_the_index_does_not_answer_nothing_else_is_swept(indexed: Indexed, tmp_path: Path) -> None:
    world, scope = indexed.stores.world, indexed.stores.scope
    with sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        receipt_id = indexed.erase(DOOMED)
        receipt = indexed.erasures.receipt(scope, receipt_id)
        assert (receipt.verified, receipt.counts) == (False, {"conversations": 1})
        assert len(world.tables.messages(scope, DOOMED)) == 6
        with pytest.raises(FencepostError) as failure:
            indexed.look_again(receipt_id)
        assert failure.value.code is ErrorCode.INDEX_UNAVAILABLE
        writer.execute("ROLLBACK")
    counts = indexed.look_again(receipt_id)
    assert (counts["conversations"], counts["vectors"], counts["messages"]) == (1, 6, 6)
    assert (world.naming(DOOMED), indexed.entries()) == ([], [])


@BOTH
def test_remembering_that_is_interrupted_by_the_erasure_leaves_nothing(
    world: ErasureWorld, scope: Scope, tmp_path: Path, asked: str | None
) -> None:
    receipts: list[str] = []
    eraser = Indexed(uninterrupted(world, scope), tmp_path)
    # Two erasures, each at every other moment, are at all of them.
    for moment in count(0 if asked else 1, 1 if EXHAUSTIVE else 2):
        stores = planted(world, scope, moment, lambda: receipts.append(eraser.erase(asked)))
        quietly(stores, lambda stores: Indexed(stores, tmp_path).remember())
        if stores.requests <= moment:
            break
        _require_nothing(eraser, receipts[-1], asked)
    assert moment > 6


@BOTH
def test_an_erasure_that_is_interrupted_by_remembering_leaves_nothing(
    world: ErasureWorld, scope: Scope, tmp_path: Path, asked: str | None
) -> None:
    worker = Indexed(uninterrupted(world, scope), tmp_path)
    for moment in count(step=STEP):
        stores = planted(world, scope, moment, lambda: quietly(worker.stores, lambda _: worker.remember()))
        receipt_id = Indexed(stores, tmp_path).erase(asked)
        _require_nothing(worker, receipt_id, asked)
        if stores.requests <= moment:
            break
    assert moment > 3


@BOTH
def test_workers_that_remember_all_the_while_leave_nothing(indexed: Indexed, tmp_path: Path, asked: str | None) -> None:
    world, scope = indexed.stores.world, indexed.stores.scope
    start = Barrier(3)

    def remember() -> None:
        worker = Indexed(uninterrupted(world, scope), tmp_path)
        start.wait()
        for _ in range(6):
            quietly(worker.stores, lambda _: worker.remember())
        # The last one dies before it learns that its rows are refused.
        worker.plant(DOOMED)

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(remember) for _ in range(2)]
        start.wait()
        receipt_id = indexed.erase(asked)
        for each in running:
            each.result()
    _require_nothing(indexed, receipt_id, asked)


def _require_nothing(eraser: Indexed, receipt_id: str, asked: str | None) -> None:
    """Let the erasure look again, and require that nothing is left in table, bucket and index."""
    eraser.look_again(receipt_id)
    assert eraser.entries() == []
    assert eraser.stores.world.naming(DOOMED) == []
    assert eraser.eraser.leftovers(eraser.stores.scope, asked) == {}
