"""Documents on their way into the index: what is read, written, kept and said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.documents.domain.documents import DocumentState
from fencepost.identity.domain.scope import Acl, Audience, OrgRole
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.domain import Purpose, WorkLease
from fencepost.retrieval.domain.search import EmbedderUnavailable, IndexUnavailable, Search
from tests.fakes.index import FakeEmbedder
from tests.worlds.corpus import CorpusWorld

FIRST = "# Guide\n\nInstall it.\n\nStart it.\n\nStop it."
SECOND = "# Guide\n\nInstall it with care.\n\nStart it.\n\nStop it."


def ingested(text: str = FIRST) -> CorpusWorld:
    world = CorpusWorld()
    world.add(text)
    world.run()
    return world


def test_a_text_becomes_chunks_entries_and_places() -> None:
    world = ingested()

    assert "".join(world.read()) == FIRST
    world.require_agreement()
    row = world.document()
    assert (row.state, row.version, row.chunks, row.error) == (DocumentState.READY, 1, 4, None)
    hits = world.index.lexical(world.scope, Search(kind="document", grants=frozenset({"site:docs"})), "install")
    assert [hit.parent for hit in hits] == ["d1"]


def test_a_title_and_a_language_are_taken_from_the_text_unless_they_are_set() -> None:
    world = CorpusWorld()
    world.add("# [Guide](javascript:x) <b>\n\nはじめに読んでください。", title="")
    world.add(FIRST, document_id="d2", title="My guide", language="de")

    world.run()
    world.run("d2")

    assert (world.document().title, world.document().language) == ("Guide", "ja")
    assert (world.document("d2").title, world.document("d2").language) == ("My guide", "de")


def test_an_unchanged_document_costs_one_reading() -> None:
    world = ingested()
    before = world.document()
    world.faults.calls.clear()
    world.clock.advance(60)

    world.queue_again()
    world.run()

    assert world.document() == replace(before, checked_at=world.clock(), updated_at=world.clock())
    calls = set(world.faults.calls)
    assert not calls & {"passages", "upsert", "put_chunks", "put_places", "chunks", "put", "delete_entries"}


def test_an_edit_writes_and_embeds_what_changed_and_nothing_else() -> None:
    world = ingested()
    kept = {row.id: row for row in world.store.rows_of("acme", "d1") if "Install" not in row.text}
    world.embedder.embedded.clear()
    world.index.upserted.clear()
    world.store.written.clear()

    world.edit(SECOND)
    world.run()

    assert "".join(world.read()) == SECOND
    world.require_agreement()
    changed = [row for row in world.store.rows_of("acme", "d1") if row.id not in kept]
    assert [row.text for row in changed] == ["Install it with care.\n\n"]
    assert {row.id: row for row in world.store.rows_of("acme", "d1") if row.id in kept} == kept
    assert world.embedder.embedded == ["Guide\nInstall it with care."]
    assert world.index.upserted == [changed[0].id]
    assert not set(world.store.written) & set(kept)
    assert world.document().version == 2


def test_new_entries_are_seen_before_old_ones_go() -> None:
    world = ingested()
    world.faults.calls.clear()

    world.edit(SECOND)
    world.run()

    calls = world.faults.calls
    assert calls.index("upsert") < calls.index("visible") < calls.index("put_places") < calls.index("delete_entries")


def test_an_index_that_shows_nothing_yet_is_waited_for_and_then_left_to_a_retry() -> None:
    world = ingested()
    world.index.lag = 7
    world.edit(SECOND)

    with pytest.raises(FencepostError) as raised:
        world.run()
    assert raised.value.code is ErrorCode.INDEX_UNAVAILABLE
    assert "".join(world.read()) == FIRST
    assert (world.document().state, world.document().error) == (DocumentState.INDEXING, ErrorCode.INDEX_UNAVAILABLE)

    world.embedder.embedded.clear()
    world.run()
    assert "".join(world.read()) == SECOND
    assert world.embedder.embedded == []
    world.require_agreement()
    assert world.document().error is None


def test_other_rights_rewrite_entries_without_embedding_and_hold_for_the_row_at_once() -> None:
    world = ingested()
    world.embedder.embedded.clear()
    old = set(world.index.of("d1"))

    world.queue_again(acl=Acl(audience=Audience.ROLE, role=OrgRole.ADMIN))
    world.run()

    assert world.embedder.embedded == []
    assert not old & set(world.index.of("d1"))
    assert {entry.grants for entry in world.index.entries.values()} == {frozenset({"role:admin"})}
    world.require_agreement()


def test_another_title_is_embedded_and_the_text_is_not_read_anew() -> None:
    world = ingested()
    world.embedder.embedded.clear()

    world.queue_again(title="Manual")
    world.run()

    assert len(world.embedder.embedded) == 4
    assert all(text.startswith("Manual\n") for text in world.embedder.embedded)
    world.require_agreement()


def test_another_model_takes_the_place_of_all_vectors() -> None:
    world = ingested()
    world.embedder = FakeEmbedder(world.faults, name="better/16")

    world.queue_again()
    world.run()

    assert {row.model for row in world.store.rows_of("acme", "d1")} == {"better/16"}
    assert world.document().model == "better/16"
    world.require_agreement()


def test_what_comes_back_before_it_was_gone_stays() -> None:
    world = ingested()
    world.index.lag = 100
    world.edit(SECOND)
    with pytest.raises(FencepostError):
        world.run()
    world.index.lag = 0

    world.edit(FIRST)
    world.run()

    assert "".join(world.read()) == FIRST
    world.require_agreement()


def test_two_workers_are_never_at_one_document() -> None:
    world = CorpusWorld()
    world.add(FIRST)
    now = world.clock()
    world.store.leases["acme", "d1"] = WorkLease("another", now, now + timedelta(minutes=1))

    with pytest.raises(FencepostError) as raised:
        world.run()
    assert raised.value.code is ErrorCode.DOCUMENT_BUSY
    assert world.store.rows == {}

    world.clock.advance(60)
    world.run()
    world.require_agreement()
    assert world.store.leases == {}


def test_what_an_admin_changes_meanwhile_is_not_lost() -> None:
    world = ingested()
    world.edit(SECOND)

    def rename() -> None:
        if "put_places" in world.faults.calls[first:]:
            world.queue_again(title="Manual")
            world.faults.between = None

    first = len(world.faults.calls)
    world.faults.between = rename
    with pytest.raises(FencepostError) as raised:
        world.run()
    assert raised.value.code is ErrorCode.DOCUMENT_BUSY
    world.faults.between = None
    assert "".join(world.read()) == FIRST

    world.run()
    assert world.document().title == "Manual"
    assert "".join(world.read()) == SECOND
    world.require_agreement()


def test_a_long_document_is_worked_off_in_slices() -> None:
    text = "\n\n".join(f"Paragraph {number}." for number in range(300))
    world = CorpusWorld(slice=timedelta())
    world.add(text)
    world.run()
    assert (world.read(), len(world.queue.jobs)) == ([], 1)

    jobs = world.work()

    assert "".join(world.read()) == text
    assert 3 <= len(jobs) <= 6
    assert {job.document for job in jobs} == {"d1"}
    assert len(world.embedder.embedded) == 300
    assert world.progress[-1] == (300, 300)
    world.require_agreement()


@pytest.mark.parametrize("state", [DocumentState.READY, DocumentState.FAILED, DocumentState.AWAITED])
def test_a_job_for_what_does_not_wait_does_nothing(state: DocumentState) -> None:
    world = CorpusWorld()
    before = world.add(FIRST, state=state)

    world.run()
    world.run("never-there")

    assert world.document() == before
    assert world.store.rows == {}


@pytest.mark.parametrize("port", ["index", "embedder"])
def test_what_refuses_for_good_fails_the_document(port: str) -> None:
    world = CorpusWorld()
    world.add(FIRST)
    unavailable = IndexUnavailable if port == "index" else EmbedderUnavailable

    def refuse(*_: object) -> None:
        raise unavailable("denied", retriable=False)

    setattr(world.index if port == "index" else world.embedder, "upsert" if port == "index" else "passages", refuse)
    world.run()

    code = ErrorCode.INDEX_UNAVAILABLE if port == "index" else ErrorCode.EMBEDDER_UNAVAILABLE
    assert (world.document().state, world.document().error) == (DocumentState.FAILED, code)


def test_nothing_is_left_of_a_removed_document() -> None:
    world = ingested()
    world.add("Another.", document_id="d2")
    world.run("d2")
    world.remove()

    world.run(purpose=Purpose.REMOVE_DOCUMENT)
    world.run(purpose=Purpose.REMOVE_DOCUMENT)

    assert list(world.store.documents) == [("acme", "d2")]
    assert {entry.parent for entry in world.index.entries.values()} == {"d2"}
    assert all(name.startswith("corpus/d2/") for name in world.blobs.all())
    assert {name for _, name, _ in world.store.stands} == {"d2"}
    world.require_agreement("d2")


def test_a_removed_document_is_not_read_any_more_and_one_that_is_there_is_not_removed() -> None:
    world = ingested()
    world.run(purpose=Purpose.REMOVE_DOCUMENT)
    assert "".join(world.read()) == FIRST

    world.remove()
    world.run()
    assert world.document().state is DocumentState.REMOVED


def test_entries_that_no_row_knows_go_with_their_document() -> None:
    world = ingested()
    lost = next(iter(world.index.entries.values()))
    world.index.upsert(world.scope, [lost])
    world.remove()

    with pytest.raises(FencepostError) as raised:
        world.run(purpose=Purpose.REMOVE_DOCUMENT)
    assert raised.value.code is ErrorCode.INDEX_UNAVAILABLE
    world.run(purpose=Purpose.REMOVE_DOCUMENT)

    assert world.index.entries == {}
    assert world.store.documents == {}
