"""The embedded index: what every index does, and that threads and processes may share its file."""

from __future__ import annotations

import multiprocessing
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.retrieval.domain.search import IndexHealth, IndexUnavailable
from fencepost.retrieval.indexes.embedded import matrices, words
from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex
from tests.conformance.index import IndexConformance
from tests.conformance.index_entries import DOCUMENTS, MESSAGES, MODEL, Owner, Subject, chunks, towards

EVERYTHING = replace(DOCUMENTS, limit=1_000)


class TestEmbeddedIndex(IndexConformance):
    @pytest.fixture
    def subject(self, tmp_path: Path) -> Iterator[Subject]:
        index = EmbeddedIndex(tmp_path / "folder" / "index.db")
        yield Subject(index, lambda: None)
        index.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


def write_and_search(path: Path, writer: int) -> int:
    """Write thirty entries, delete a third of them, and search between; return how many there are of this writer."""
    index, one = EmbeddedIndex(path, wait_seconds=60), Owner("acme")
    kept = 0
    for n in range(10):
        entries = [one.entry(f"w{writer}-{n}-{m}", f"words of writer{writer}") for m in range(3)]
        stored = index.upsert(one.scope, entries)
        index.delete(one.scope, stored[:1])
        kept += 2
        found = chunks(index.lexical(one.scope, EVERYTHING, f"writer{writer}"))
        near = chunks(index.nearest(one.scope, EVERYTHING, towards(0), MODEL.name))
        assert len(found) == kept
        assert len([chunk for chunk in near if chunk.startswith(f"w{writer}-")]) == kept
    index.close()
    return kept


def test_several_processes_make_write_and_search_one_file(path: Path) -> None:
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(4, mp_context=spawned) as pool:
        kept = sum(pool.map(write_and_search, [path] * 4, range(4)))
    one, index = Owner("acme"), EmbeddedIndex(path)
    assert len(index.lexical(one.scope, EVERYTHING, "words")) == kept == 80
    assert len(index.listed(one.scope, None, 1_000).items) == kept


def test_threads_share_an_index(path: Path) -> None:
    index, one = EmbeddedIndex(path), Owner()
    writers = [Owner(one.org, f"member:u{n}") for n in range(8)]

    def work(writer: Owner) -> list[str]:
        for n in range(10):
            index.upsert(writer.scope, [writer.entry(f"{writer.name}-{n}", kind="message")])
            assert len(index.nearest(writer.scope, MESSAGES, towards(0), MODEL.name)) == n + 1
        return chunks(index.lexical(writer.scope, MESSAGES, "words"))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, writers))
    assert [sorted(names) for names in found] == [sorted(f"{one.name}-{n}" for n in range(10)) for one in writers]


def test_a_reader_waits_for_no_writer(path: Path) -> None:
    index, one = EmbeddedIndex(path, wait_seconds=0), Owner()
    index.upsert(one.scope, [one.entry()])
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM entries")
        assert chunks(index.lexical(one.scope, DOCUMENTS, "words")) == ["c1"]
        assert chunks(index.nearest(one.scope, DOCUMENTS, towards(0), MODEL.name)) == ["c1"]
        other.execute("ROLLBACK")


def test_a_writer_that_waited_in_vain_says_so(path: Path) -> None:
    index, one = EmbeddedIndex(path, wait_seconds=0.05), Owner()
    (stored,) = index.upsert(one.scope, [one.entry()])
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        writes: list[Callable[[], object]] = [
            lambda: index.upsert(one.scope, [one.entry("c2")]),
            lambda: index.delete(one.scope, [stored]),
        ]
        for write in writes:
            with pytest.raises(IndexUnavailable, match="SQLITE_BUSY") as raised:
                write()
            assert raised.value.retriable
        other.execute("ROLLBACK")
    assert chunks(index.listed(one.scope, None, 10).items) == ["c1"]


def test_a_file_that_is_no_index_is_down_and_left_alone(path: Path) -> None:
    path.write_text("notes, and no database at all, " * 100)
    index, one = EmbeddedIndex(path), Owner()
    assert index.health() == IndexHealth("down", "SQLITE_NOTADB")
    with pytest.raises(IndexUnavailable) as raised:
        index.upsert(one.scope, [one.entry()])
    assert not raised.value.retriable
    assert path.read_text().startswith("notes")


def test_a_file_of_another_version_is_down(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    assert EmbeddedIndex(path).health().state == "down"


def test_a_folder_in_the_place_of_the_file_is_down(tmp_path: Path) -> None:
    assert EmbeddedIndex(tmp_path).health() == IndexHealth("down", "SQLITE_CANTOPEN")


def test_nothing_is_left_in_the_file_of_what_was_erased(path: Path) -> None:
    index, one = EmbeddedIndex(path), Owner(name="visitor:unmistakable")
    secret = one.entry("chunk-id", "The password is xyzzyplugh", "message", context="said to quuxfrobnicate")
    stored = index.upsert(one.scope, [secret, one.entry("m2", kind="message")])
    index.delete(one.scope, stored)
    index.close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert [name for name in tables if name.startswith("words")] == []
    left = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert not [word for word in (b"xyzzyplugh", b"frobnic", b"unmistakable", b"chunk-id") if word in left]


def test_how_rare_a_word_is_follows_from_ones_own_entries_alone(path: Path) -> None:
    index, one, other = EmbeddedIndex(path), Owner(), Owner()
    index.upsert(one.scope, [one.entry(f"c{n}", f"zebra number{n}") for n in range(3)])
    index.upsert(one.scope, [one.entry("m", "zebra", "message")])
    before = index.lexical(one.scope, DOCUMENTS, "zebra number2")
    colleague = Owner(one.org, "member:u2")
    for n in range(30):
        index.upsert(other.scope, [other.entry(f"c{n}", "number2 " * 50)])
        index.upsert(colleague.scope, [colleague.entry(f"c{n}", "number2 " * 50, "message")])
    assert index.lexical(one.scope, DOCUMENTS, "zebra number2") == before


def test_a_word_in_every_message_still_tells_who_says_it_more_often(path: Path) -> None:
    index, one = EmbeddedIndex(path), Owner()
    index.upsert(one.scope, [one.entry("once", "dog cat cat", "message"), one.entry("twice", "dog dog cat", "message")])
    hits = index.lexical(one.scope, MESSAGES, "dog")
    assert chunks(hits) == ["twice", "once"]
    assert hits[0].score > hits[1].score > 0.01


def test_the_rarest_words_choose_when_the_others_are_in_too_many(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MAX_POSTINGS", 10)
    index, one = EmbeddedIndex(path), Owner()
    many = [one.entry(f"c{n}", "common words") for n in range(40)]
    index.upsert(one.scope, [*many, one.entry("zebra", "common zebra")])
    assert chunks(index.lexical(one.scope, EVERYTHING, "common zebra")) == ["zebra"]
    assert len(index.lexical(one.scope, EVERYTHING, "common")) == 41


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_is_kept_in_memory_is_what_stands_in_the_file(tmp_path: Path, data: st.DataObject) -> None:
    """Another process writes and deletes; each search finds what a fresh reader finds."""
    file = tmp_path / f"{data.draw(st.uuids())}.db"
    most_bytes = data.draw(st.sampled_from([0, 300, 1_000_000]))
    reader, writer, one = EmbeddedIndex(file, cache_bytes=most_bytes), EmbeddedIndex(file), Owner()
    stored: dict[str, str] = {}
    for n in range(data.draw(st.integers(1, 12))):
        goes = data.draw(st.booleans())
        if stored and goes:
            writer.delete(one.scope, [stored.pop(data.draw(st.sampled_from(sorted(stored))))])
        else:
            names = [f"c{n}-{m}" for m in range(data.draw(st.integers(1, 3)))]
            entries = [one.entry(name, vector=towards(n * 10 + m)) for m, name in enumerate(names)]
            stored |= dict(zip(names, writer.upsert(one.scope, entries), strict=True))
        kept = reader.nearest(one.scope, EVERYTHING, towards(0), MODEL.name)
        assert sorted(chunks(kept)) == sorted(stored)
        assert kept == EmbeddedIndex(file).nearest(one.scope, EVERYTHING, towards(0), MODEL.name)


def test_many_small_changes_are_made_one_block(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "MOST_BLOCKS", 3)
    index, one = EmbeddedIndex(path), Owner()
    for n in range(10):
        index.upsert(one.scope, [one.entry(f"c{n}", vector=towards(n))])
        found = index.nearest(one.scope, EVERYTHING, towards(0), MODEL.name)
        assert chunks(found) == [f"c{m}" for m in range(n + 1)]


def test_what_needs_no_vectors_needs_no_numpy(path: Path) -> None:
    script = (
        "import sys; from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex\n"
        "from tests.conformance.index_entries import DOCUMENTS, Owner\n"
        f"index, one = EmbeddedIndex({str(path)!r}), Owner()\n"
        "index.upsert(one.scope, [one.entry()])\n"
        "assert index.lexical(one.scope, DOCUMENTS, 'words')\n"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": ":".join(sys.path)})
