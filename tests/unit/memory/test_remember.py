"""What the index holds of a conversation, as its turns go by."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from fencepost.identity.domain.sites import LayerBudgets
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.service.remember import SLICE
from fencepost.retrieval.domain.search import IndexUnavailable
from tests.fakes.conversations import owned
from tests.fakes.index import FakeEmbedder
from tests.worlds.remember import RememberWorld


def remembered(turns: int = 3, *, slice_: int = SLICE) -> RememberWorld:
    world = RememberWorld(slice=slice_)
    world.talk(turns)
    world.work()
    world.require_agreement()
    world.forget_work()
    return world


def test_a_turn_embeds_its_own_messages_and_indexes_their_neighbours_anew() -> None:
    world = remembered(10)
    world.turn("Which apples keep?", "Boskoop do.")
    world.work()
    world.require_agreement()
    embedded, upserted, _ = world.done
    assert embedded == ["Which apples keep?", "Boskoop do."]
    assert upserted == ["q19#0", "q19.1#0", "q21#0", "q21.1#0"]


@pytest.mark.parametrize("revises", [False, True])
def test_a_job_that_comes_again_embeds_indexes_and_writes_nothing(revises: bool) -> None:
    world = remembered(10)
    world.run(revises=revises)
    assert world.done == ([], [], [])


def test_a_turn_reads_no_more_of_a_long_conversation_than_of_a_short_one() -> None:
    world = remembered(100)
    world.turn()
    world.faults.calls.clear()
    world.work()
    world.require_agreement()
    assert world.faults.count("conversations") <= 2


@pytest.mark.parametrize("question", [1, 3, 17, 39, 41])
def test_an_answer_that_is_made_anew_takes_the_place_of_the_one_before(question: int) -> None:
    world = remembered(21)
    world.answer(question, "quinces instead")
    world.work()
    world.require_agreement()
    assert world.embedder.embedded == ["quinces instead"]
    assert f"q{question}.1#0" not in {entry.chunk for entry in world.index.entries.values()}


def test_answers_that_were_made_anew_many_times_hide_nothing_that_changed() -> None:
    world = remembered(4)
    for number in range(40):
        world.answer(7, f"try {number}")
    world.turn("and then", "that was it")
    world.work()
    world.require_agreement()


@pytest.mark.parametrize("turns", [0, 3, 20])
def test_a_question_is_remembered_once_it_is_answered(turns: int) -> None:
    world = remembered(2)
    question = world.ask("where are the pears")
    world.talk(turns)
    world.work()
    world.require_agreement()
    assert f"q{question}#0" not in {entry.chunk for entry in world.index.entries.values()}
    world.answer(question)
    world.work()
    world.require_agreement()
    assert f"q{question}#0" in {entry.chunk for entry in world.index.entries.values()}


@pytest.mark.parametrize("kept_from", [2, 15, 43])
def test_what_retention_hides_leaves_entries_rows_and_the_context_of_what_stays(kept_from: int) -> None:
    world = remembered(21)
    world.hide(kept_from)
    world.work()
    world.require_agreement()
    assert not world.embedder.embedded
    told = "".join(f"{entry.text}{entry.context}" for entry in world.index.entries.values())
    assert f" {kept_from - 1} about" not in told


def test_another_model_embeds_everything_anew() -> None:
    world = remembered(5)
    world.embedder = FakeEmbedder(world.faults, name="other/16")
    world.run(revises=True)
    world.require_agreement()
    assert {entry.model for entry in world.index.entries.values()} == {"other/16"}
    assert len(world.embedder.embedded) == 10


def test_the_same_words_are_embedded_once() -> None:
    world = RememberWorld()
    world.turn("same", "same")
    world.turn("same", "same")
    world.work()
    world.require_agreement()
    assert world.embedder.embedded == ["same"]


def test_a_long_message_is_found_by_its_parts() -> None:
    world = remembered(1)
    world.turn("two things", "first apples\n\nthen pears\n\n \n\nthen quinces")
    world.work()
    world.require_agreement()
    answer = [row for row in world.parts.rows_of(world.scope, "c1") if row.seq == 4]
    assert [(row.number, row.start, row.end) for row in answer] == [(0, 0, 14), (1, 14, 26), (3, 29, 41)]


@pytest.mark.parametrize("turns", [19, 20, 21, 50])
def test_a_long_conversation_is_remembered_slice_by_slice(turns: int) -> None:
    world = RememberWorld(slice=10)
    world.talk(turns)
    world.due.clear()
    world.run()
    assert 0 < len(world.parts.rows_of(world.scope, "c1")) < 20
    assert world.queue.jobs
    world.work()
    world.require_agreement()
    assert len(world.index.upserted) == 2 * turns
    # What stands at the beginning of the next slice has a share in the last entries of the one before.
    embedded = Counter(world.embedder.embedded)
    assert (len(embedded), max(embedded.values())) == (2 * turns, 2)


def test_a_message_of_more_parts_than_a_slice_is_passed() -> None:
    world = RememberWorld(slice=4)
    for number in range(6):
        world.turn("why", "\n\n".join(f"reason {number} {part}" for part in range(20)))
    world.due.clear()
    world.run()
    world.work()
    world.require_agreement()


def test_a_repair_of_a_long_conversation_goes_on_to_its_end() -> None:
    world = remembered(50, slice_=10)
    world.index.entries.pop(world.parts.rows_of(world.scope, "c1")[-1].stored_id)
    world.run(revises=True)
    world.work()
    world.require_agreement()
    assert not world.embedder.embedded


def test_entries_that_no_row_knows_are_removed_and_lost_ones_made_again() -> None:
    world = remembered(5)
    first, second, *_ = world.index.entries
    [stray] = world.index.upsert(world.scope, [world.index.entries[first]])
    del world.index.entries[second]
    world.run(revises=True)
    world.require_agreement()
    assert stray not in world.index.entries


def test_entries_of_another_owner_in_a_conversation_of_the_same_id_are_left_alone() -> None:
    world = remembered(1)
    entry = replace(next(iter(world.index.entries.values())), owner="visitor:v2")
    [foreign] = world.index.upsert(world.scope, [entry])
    world.run(revises=True)
    assert world.index.entries.pop(foreign) == entry
    world.require_agreement()


def test_an_entry_goes_when_the_one_that_replaced_it_is_found() -> None:
    world = remembered(3)
    world.index.lag = 1
    world.turn()
    world.work()
    stale = [row.chunk for row in world.parts.rows_of(world.scope, "c1") if row.stale_id]
    assert stale == ["q5#0", "q5.1#0"]
    assert len(world.index.entries) == 10
    world.run()
    world.require_agreement()
    assert len(world.embedder.embedded) == 2


def test_a_row_never_has_more_than_one_entry_that_waits_to_be_removed() -> None:
    world = remembered(3)
    world.index.lag = 100
    for _ in range(3):
        world.turn()
        world.work()
    rows = world.parts.rows_of(world.scope, "c1")
    assert set(world.index.entries) == {one for row in rows for one in (row.stored_id, row.stale_id) if one}
    world.index.lag = 0
    world.index._hidden.clear()
    world.run()
    world.require_agreement()


def test_what_was_erased_meanwhile_does_not_come_back() -> None:
    world = remembered(3)
    world.turn()
    looked: list[str] = []

    def erase() -> None:
        if world.faults.calls[-1] == "put_chunks" and not looked:
            looked.append("erased")
            world.shelf.conversations.pop(owned(world.scope, "c1"))
            world.parts.rows.clear()

    before = set(world.index.entries)
    world.faults.between = erase
    world.work()
    assert looked
    assert set(world.index.entries) == before  # The erasure's own to remove.
    assert not world.parts.rows


def test_what_retention_hides_meanwhile_does_not_come_back() -> None:
    world = remembered(3)
    world.turn()

    def hide() -> None:
        if world.faults.calls[-1] == "put_chunks" and world.row.kept_from == 1:
            world.hide(8)

    world.faults.between = hide
    world.work()
    world.require_agreement()
    assert {entry.chunk for entry in world.index.entries.values()} == {"q7.1#0"}


def test_a_conversation_that_is_gone_or_another_one_is_left_alone() -> None:
    world = remembered(3)
    job = world.job()
    world.erase()
    world.service.run(world.scope, job)
    world.begin("i2")
    world.talk(2)
    world.service.run(world.scope, job)
    assert not world.index.entries
    world.work()
    world.require_agreement()


@pytest.mark.parametrize("revises", [False, True])
def test_a_site_without_room_for_memories_remembers_nothing(revises: bool) -> None:
    world = remembered(3)
    world.budgets = LayerBudgets(memory_tokens=0)
    world.talk(1)
    world.run(revises=revises)
    assert (world.index.entries, world.parts.rows_of(world.scope, "c1"), world.embedder.embedded) == ({}, [], [])
    world.budgets = LayerBudgets()
    world.work()
    world.require_agreement()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("passages", ErrorCode.EMBEDDER_UNAVAILABLE),
        ("upsert", ErrorCode.INDEX_UNAVAILABLE),
        ("put_chunks", ErrorCode.CONVERSATIONS_UNAVAILABLE),
    ],
)
def test_what_is_down_has_its_own_code_and_the_job_comes_again(name: str, code: ErrorCode) -> None:
    alike, world = remembered(), remembered()
    alike.faults.calls.clear()
    alike.turn()
    alike.run()
    world.turn()
    world.fail_at(alike.faults.calls.index(name), "before")
    with pytest.raises(FencepostError) as caught:
        world.run()
    assert caught.value.code is code
    world.work()
    world.require_agreement()


def test_an_index_that_refuses_for_good_leaves_no_other_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> tuple[str, ...]:
        raise IndexUnavailable("status", retriable=False)

    world = RememberWorld()
    world.talk(1)
    monkeypatch.setattr(world.index, "upsert", refuse)
    with pytest.raises(FencepostError) as caught:
        world.run()
    assert caught.value.code is ErrorCode.INDEX_UNAVAILABLE
