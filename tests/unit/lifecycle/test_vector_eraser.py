"""What is erased goes from the index too: its entries before its rows, nobody else's, and each counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.bootstrap.stores import TenantStores
from fencepost.bootstrap.wiring.lifecycle import erase_service
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.domain.erasures import ErasedKind
from fencepost.lifecycle.dynamodb.eraser import DynamoDbEraser
from fencepost.lifecycle.service import vector_erasure as vector_eraser
from fencepost.lifecycle.service.vector_erasure import VectorEraser
from fencepost.observability.domain.events import ErasureEvent
from fencepost.retrieval.domain.search import IndexEntry, IndexUnavailable
from tests.fakes.answers import FakeKeys, Fault
from tests.fakes.conversations import owned
from tests.fakes.corpus import operator
from tests.fakes.index import FakeIndex, vector_of
from tests.worlds.chat import FakeEvents
from tests.worlds.thoroughness import examples
from tests.worlds.vector_erasures import ABROAD, ANN, BOB, ROWS, TEXTS, VectorErasures

PLENTY = 1_000


@pytest.fixture
def world() -> VectorErasures:
    """Return three owners who each have the conversations `c1` and `c2`, and a document that is called like one."""
    world = VectorErasures()
    for scope in (ANN, BOB, ABROAD):
        world.tell(scope, "c1", "c2")
    document = IndexEntry(
        chunk="d1",
        org="acme",
        owner="",
        kind="document",
        parent="c1",
        version=1,
        text="A document.",
        model="fake/16",
        vector=vector_of("A document."),
        grants=frozenset({"site:docs"}),
    )
    world.index.upsert(operator(), [document])
    return world


def test_a_conversations_entries_go_with_its_rows_and_are_counted(world: VectorErasures) -> None:
    receipt = world.service.conversation(ANN, "c1")
    assert receipt.counts == {"conversations": 1, "vectors": 3, **ROWS}
    assert receipt.verified
    assert world.entries(ANN, "c1") == []
    assert len(world.index.entries) == 5 * len(TEXTS) + 1
    assert world.finish() == 1
    assert world.receipt(ANN).counts == receipt.counts


def test_everything_of_an_owner_goes_and_no_document_and_nobody_elses(world: VectorErasures) -> None:
    receipt = world.service.everything(ANN)
    assert receipt.counts == {"conversations": 2, "vectors": 6, **{kind: 2 * rows for kind, rows in ROWS.items()}}
    assert receipt.verified
    assert world.entries(ANN) == []
    assert len(world.entries(BOB)) == len(world.entries(ABROAD)) == 6
    assert [one.chunk for one in world.index.entries.values() if one.kind == "document"] == ["d1"]


def test_entries_go_before_the_rows_and_are_part_of_the_budget(world: VectorErasures) -> None:
    world.eraser.forget_conversation(ANN, "c1", world.clock())
    assert world.eraser.sweep(ANN, "c1", 2) == {"vectors": 2}
    assert world.eraser.sweep(ANN, "c1", 1) == {"vectors": 1}
    assert world.rest.forgotten[owned(ANN, "c1")] == Counter(ROWS)
    assert world.eraser.sweep(ANN, "c1", 3) == {"messages": 3}


def test_what_is_there_is_neither_swept_nor_left_over(world: VectorErasures) -> None:
    for one in ("c1", None):
        assert world.eraser.sweep(ANN, one, PLENTY) == {}
        assert world.eraser.leftovers(ANN, one) == {}
    assert len(world.entries(ANN)) == 6


def test_a_conversation_that_comes_back_keeps_its_entries(world: VectorErasures) -> None:
    world.service.conversation(ANN, "c1")
    world.tell(ANN, "c1", texts=("I am back.",))
    world.finish()
    assert len(world.entries(ANN, "c1")) == 1
    assert world.receipt(ANN).counts["vectors"] == 3


def test_one_that_comes_back_while_its_old_entries_are_looked_for_loses_none_of_its_own(
    world: VectorErasures, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.eraser.forget_conversation(ANN, "c1", world.clock())
    get = world.diary.conversations.get

    def returning(scope: Scope, conversation_id: str) -> object:
        found = get(scope, conversation_id)
        world.tell(ANN, "c1", texts=("I am back.",))
        return found

    monkeypatch.setattr(world.diary.conversations, "get", returning)
    assert world.eraser.sweep(ANN, "c1", PLENTY)["vectors"] == 3
    assert len(world.entries(ANN, "c1")) == 1


def test_what_begins_after_the_erasure_of_everything_stays(world: VectorErasures) -> None:
    world.service.everything(ANN)
    world.tell(ANN, "new", texts=("I begin anew.",))
    world.finish()
    assert len(world.entries(ANN)) == len(world.entries(ANN, "new")) == 1
    assert (world.receipt(ANN).status, world.receipt(ANN).counts["vectors"]) == ("done", 6)


@pytest.mark.parametrize("erase", [lambda w: w.service.conversation(ANN, "c1"), lambda w: w.service.everything(ANN)])
def test_entries_of_a_job_that_still_ran_are_found_by_the_second_look(
    world: VectorErasures, erase: Callable[[VectorErasures], object]
) -> None:
    talk = world.diary.tell(ANN, "c1", *TEXTS)
    erase(world)
    world.diary.enter(ANN, "c1", talk[0], (0, 5))
    before = world.receipt(ANN).counts["vectors"]
    assert world.finish() == 1
    assert world.entries(ANN, "c1") == []
    assert world.receipt(ANN).counts["vectors"] == before + 1


def test_an_index_that_is_down_delays_the_rest_and_fails_nobody(
    world: VectorErasures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.index, "listed", _down)
    receipt = world.service.conversation(ANN, "c1")
    assert (receipt.counts, receipt.verified, receipt.status) == ({"conversations": 1}, False, "running")
    assert world.rest.forgotten[owned(ANN, "c1")] == Counter(ROWS)
    with pytest.raises(FencepostError) as failure:
        world.service.run(ANN, world.jobs.queued[0])
    assert failure.value.code is ErrorCode.INDEX_UNAVAILABLE
    monkeypatch.undo()
    assert world.finish() == 1
    assert world.receipt(ANN).counts == {"conversations": 1, "vectors": 3, **ROWS}
    assert (world.receipt(ANN).status, world.entries(ANN, "c1")) == ("done", [])


def _down(*_: object, **__: object) -> None:
    raise IndexUnavailable("timeout")


@pytest.mark.parametrize("fault", ["before", "after"])
@pytest.mark.parametrize("conversation_id", ["c1", None])
def test_whatever_fails_once_on_the_way_nothing_is_left(fault: Fault, conversation_id: str | None) -> None:
    for call in count():
        world = VectorErasures()
        world.tell(ANN, "c1", "c2")
        world.due.extend([*([None] * call), fault])
        _ask(world, conversation_id)
        while world.jobs.queued and not world.come():
            pass
        passed_by = bool(world.due)
        world.due.clear()
        _ask(world, conversation_id)
        assert world.entries(ANN, "c1") == [], call
        assert world.eraser.leftovers(ANN, conversation_id) == {}, call
        assert world.rest.forgotten[owned(ANN, "c1")].total() == 0, call
        assert world.receipt(ANN).counts.get("vectors", 0) <= 3 * (1 if conversation_id else 2), call
        if passed_by:
            break
    assert call > 8


def _ask(world: VectorErasures, conversation_id: str | None) -> None:
    # Whoever asks is told what fails, and asks again.
    with suppress(FencepostError):
        world.service.conversation(ANN, conversation_id) if conversation_id else world.service.everything(ANN)


@pytest.mark.parametrize("conversation_id", ["c1", None])
@pytest.mark.parametrize("late", [1, 2, 3, 4, 6, 8])
def test_what_is_said_just_before_is_found_by_the_second_look_and_is_no_finding(
    late: int, conversation_id: str | None
) -> None:
    world = VectorErasures(late=late)
    world.tell(ANN, "c1")
    world.tell(BOB, "c1")
    _ask(world, conversation_id)
    assert len(world.entries(ANN)) == 3
    attempts = world.finish()
    assert (world.entries(ANN), len(world.entries(BOB))) == ([], 3)
    assert world.receipt(ANN).counts == {"conversations": 1, "vectors": 3, **ROWS}
    assert world.results[-1] == "verified"
    assert "leftovers" not in world.results
    # It never looks again and again for what only time makes vanish.
    assert world.rest.calls.count("sweep") <= 2 * attempts + 1


def test_what_is_listed_though_it_was_removed_delays_the_receipt_and_is_counted_once() -> None:
    world = VectorErasures(late=3)
    world.tell(ANN, "c1")
    world.settle()
    receipt = world.service.conversation(ANN, "c1")
    assert (receipt.counts["vectors"], receipt.verified) == (3, False)
    assert world.entries(ANN) == []
    assert world.finish() == 1
    assert world.results == ["forgotten", "swept", "verified"]
    assert world.receipt(ANN).counts == {"conversations": 1, "vectors": 3, **ROWS}


def test_an_entry_that_cannot_be_removed_is_a_finding(world: VectorErasures, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world.index, "delete", lambda *_: 0)
    assert not world.service.conversation(ANN, "c1").verified
    world.clock.advance(15 * 60)
    assert not world.come()
    assert world.results[-1] == "leftovers"
    assert world.events.of(ErasureEvent)[-1].left == 3
    assert world.eraser.leftovers(ANN, "c1") == {"vectors": 3}


def test_with_an_index_erasures_reach_it_and_without_one_there_is_none_to_reach() -> None:
    reached, index = TenantStores("conversations", "directory", "bucket", None), FakeIndex()
    eraser = erase_service(reached, index, FakeKeys(), FakeEvents()).eraser
    assert isinstance(eraser, VectorEraser)
    assert eraser.index is index
    assert isinstance(erase_service(reached, None, FakeKeys(), FakeEvents()).eraser, DynamoDbEraser)


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_exactly_the_entries_of_what_is_gone_go_however_they_are_paged(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        page = data.draw(st.integers(1, 4))
        patch.setattr(vector_eraser, "_PAGE", page)
        patch.setattr(vector_eraser, "_CHECKED_TOGETHER", page * data.draw(st.integers(1, 3)))
        world = VectorErasures()
        told = data.draw(st.lists(st.tuples(st.sampled_from([ANN, BOB, ABROAD]), st.sampled_from("abc")), max_size=9))
        for scope, one in dict.fromkeys(told):
            world.tell(scope, one, texts=TEXTS[: data.draw(st.integers(1, 3))])
        gone = {one for scope, one in told if scope is ANN and data.draw(st.booleans())}
        for one in gone:
            world.eraser.forget_conversation(ANN, one, world.clock())
        asked = data.draw(st.sampled_from([None, "a"]))
        doomed = {one for one in gone if asked in (None, one)}
        expected = world.entries(ANN, *doomed) if doomed else []
        kept = sorted(one.chunk for one in world.index.entries.values())
        assert world.eraser.leftovers(ANN, asked).get(ErasedKind.VECTORS, 0) == len(expected)
        budget, removed = data.draw(st.integers(1, 12)), 0
        while swept := world.eraser.sweep(ANN, asked, budget):
            assert sum(swept.values()) <= budget
            removed += swept.get(ErasedKind.VECTORS, 0)
        left = sorted(one.chunk for one in world.index.entries.values())
        assert sorted([*left, *expected]) == kept
        assert (removed, world.eraser.leftovers(ANN, asked)) == (len(expected), {})
