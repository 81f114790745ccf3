"""The rules of messages in the index: parts, entries and versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.conversations.domain.messages import Message, MessageStatus
from fencepost.documents.domain.chunking.bounds import Bounds
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.memory.domain.message_chunks import ChunkWindow, MessageChunk, chunks_of, entry_plan, spans
from fencepost.model.domain import Role
from fencepost.retrieval.domain.ranking.fields import REACH
from tests.worlds.remember import paragraphs, parts
from tests.worlds.thoroughness import examples

MODEL = "fake/16"
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TIGHT = Bounds(least=2, aim=6, most=10, whole=20, overlap=2)

texts = st.lists(st.sampled_from(["apples", "pears", "quinces", "two\n\nparts", "a [doc:guide] b"]), max_size=14)


def words(text: str) -> int:
    return len(text.split())


def message(content: str = "apples", **fields: object) -> Message:
    known: dict[str, object] = {
        "id": "q1",
        "seq": 1,
        "role": Role.USER,
        "content": content,
        "created_at": NOON,
        "status": MessageStatus.ANSWERED,
    }
    return Message(**(known | fields))  # type: ignore[arg-type]  # fields by name


def whole(sequence: Sequence[MessageChunk]) -> ChunkWindow:
    return ChunkWindow(chunks=sequence, begins=True, ends=True)


def rows_of(sequence: Sequence[MessageChunk], model: str = MODEL) -> list[MessageChunkRow]:
    """Return the rows of all parts, as they are once the index holds them."""
    due = entry_plan(whole(sequence), (), model).pending
    return [replace(one.row, stored_id=f"s{number}", vector=(1.0,)) for number, one in enumerate(due)]


def versions(sequence: Sequence[MessageChunk], model: str = MODEL) -> dict[str, int]:
    return {row.chunk: row.version for row in rows_of(sequence, model)}


@settings(max_examples=examples(200), deadline=None)
@given(said=texts)
def test_the_same_messages_have_the_same_versions(said: list[str]) -> None:
    assert versions(parts(*said)) == versions(parts(*said))
    plan = entry_plan(whole(parts(*said)), rows_of(parts(*said)), MODEL)
    assert (plan.pending, plan.obsolete) == ((), ())


@settings(max_examples=examples(200), deadline=None)
@given(said=texts, new=st.sampled_from(["plums", "figs\n\nand dates"]))
def test_a_new_message_changes_entries_within_reach_and_no_others(said: list[str], new: str) -> None:
    before = parts(*said)
    plan = entry_plan(whole(parts(*said, new)), rows_of(before), MODEL)
    near = {f"{part.message}#{part.number}" for part in before[-REACH:]}
    added = {f"{part.message}#{part.number}" for part in parts(*said, new)[len(before) :]}
    assert {one.row.chunk for one in plan.pending} == near | added


@settings(max_examples=examples(200), deadline=None)
@given(said=texts, place=st.integers(0, 13))
def test_a_message_that_goes_takes_its_rows_along_and_changes_its_neighbours(said: list[str], place: int) -> None:
    before = parts(*said)
    left = [part for part in before if part.seq != place + 1]
    plan = entry_plan(whole(left), rows_of(before), MODEL)
    assert {row.seq for row in plan.obsolete} == ({place + 1} if len(left) < len(before) else set())
    gone = [n for n, part in enumerate(before) if part.seq == place + 1]
    near = {n for n in range(len(before)) if gone and gone[0] - REACH <= n <= gone[-1] + REACH} - set(gone)
    assert {one.row.chunk for one in plan.pending} <= {f"{before[n].message}#{before[n].number}" for n in near}


@settings(max_examples=examples(200), deadline=None)
@given(said=texts, cuts=st.tuples(st.integers(0, 30), st.integers(0, 30)))
def test_a_part_of_a_conversation_plans_what_the_whole_of_it_does(said: list[str], cuts: tuple[int, int]) -> None:
    everything = parts(*said)
    first, last = (min(cut, len(everything)) for cut in sorted(cuts))
    some = everything[first:last]
    if len(some) < 2 * REACH:
        return
    window = ChunkWindow(chunks=some, begins=first == 0, ends=last == len(everything))
    plan = entry_plan(window, rows_of(everything), MODEL)
    assert (plan.pending, plan.obsolete) == ((), ())
    assert {one.row.chunk: one.row.version for one in entry_plan(window, (), MODEL).pending}.items() <= versions(
        everything
    ).items()


def test_a_version_changes_with_all_that_an_entry_is_made_of() -> None:
    said = parts("one", "two", "three", "four", "five")
    before = versions(said)
    assert all(0 < version < 2**28 for version in before.values())
    assert not set(versions(said, "other/16").values()) & set(before.values())
    later = [replace(part, said=replace(part.said, day=part.said.day + timedelta(days=1))) for part in said[:1]]
    changed = versions([*later, *said[1:]])
    assert [chunk for chunk, version in before.items() if changed[chunk] != version] == ["q1#0", "q2#0", "q3#0"]


def test_two_entries_that_read_alike_have_versions_of_their_own() -> None:
    same = versions(parts(*["same"] * 9))
    assert len(set(same.values())) == 9


@settings(max_examples=examples(150), deadline=None)
@given(content=st.text(st.sampled_from("ab .\n#`*-。é"), max_size=120))
def test_the_spans_of_a_message_tile_it(content: str) -> None:
    tiled = spans(content, words, TIGHT)
    assert "".join(content[start:end] for start, end in tiled) == content or not content.strip()


def test_a_message_that_fits_is_one_part_and_a_longer_one_several() -> None:
    short = "# Short\n\nas it is.\n\n## Still\n\nshort."
    assert spans(short, words, TIGHT) == ((0, len(short)),)
    assert len(spans(". ".join(["word word word word"] * 9), words, TIGHT)) > 1


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, True),
        ({"status": MessageStatus.COMPLETE}, True),
        ({"status": MessageStatus.PENDING}, False),
        ({"status": MessageStatus.SUPERSEDED}, False),
        ({"seq": 4}, False),
        ({"content": " \n"}, False),
        ({"content": "[doc:guide/install#3]"}, False),
    ],
)
def test_found_is_what_was_settled_and_is_kept_and_has_words(fields: dict[str, object], found: bool) -> None:
    kept_from = 5 if "seq" in fields else 1
    assert bool(chunks_of(message(**fields), kept_from, paragraphs)) == found  # type: ignore[arg-type]  # by name


def test_words_have_no_markers_and_keep_their_day() -> None:
    [part] = chunks_of(message("Pears [doc:pears#1] keep."), 1, paragraphs)
    assert (part.said.words, part.said.day) == ("Pears keep.", NOON.date())
    assert (part.start, part.end) == (0, 25)
