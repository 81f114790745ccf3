"""A job that ends anywhere: what is read is one whole version at each moment, and a retry brings the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.documents.domain.documents import DocumentOrigin, DocumentState
from fencepost.identity.domain.scope import Acl, Audience
from fencepost.kernel.errors import FencepostError
from fencepost.queue.domain import Purpose
from fencepost.queue.service import WORK_SECONDS
from tests.fakes.answers import Fault
from tests.worlds.corpus import CorpusWorld
from tests.worlds.thoroughness import examples

FIRST = "# Guide\n\nInstall it.\n\nSame.\n\nSame.\n\nStop it."
SECOND = "# Guide\n\nSame.\n\nInstall it with care.\n\nSame.\n\nSame.\n\nStart it."
FAULTS: tuple[Fault, ...] = ("before", "after")
TRIES = 12


def ingested(text: str = FIRST) -> CorpusWorld:
    world = CorpusWorld()
    world.add(text)
    world.run()
    return world


def persist(world: CorpusWorld, purpose: Purpose = Purpose.INGEST) -> int:
    """Run a document's job as the queue does, until it is done, and return how often it failed."""
    for failures in range(TRIES):
        try:
            world.run(purpose=purpose)
            world.work()
        except FencepostError:
            world.clock.advance(WORK_SECONDS)
            continue
        if "d1" not in {name for _, name in world.store.documents} or _rests(world):
            return failures
    raise AssertionError("the job did not come to its end")


def _rests(world: CorpusWorld) -> bool:
    return world.document().state in (DocumentState.READY, DocumentState.FAILED)


def watch(world: CorpusWorld, *versions: str) -> list[str]:
    """Look at what is read before and after each call: one of the versions, whole, and all of it in the index."""
    seen: list[str] = []

    def look() -> None:
        read = "".join(world.read())
        assert read in versions
        row = world.document()
        assert world.found() == {one.id for one in world.store.rows_of("acme", "d1", row.version)}
        seen.append(read)

    world.faults.between = look
    return seen


def calls_of_an_edit() -> int:
    world = ingested()
    before = len(world.faults.calls)
    world.edit(SECOND)
    world.run()
    return len(world.faults.calls) - before


EDIT_CALLS = calls_of_an_edit()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", range(EDIT_CALLS))
def test_a_fault_at_any_call_leaves_a_whole_version_and_a_retry_brings_the_next(call: int, fault: Fault) -> None:
    world = ingested()
    kept = {row.id for row in world.store.rows_of("acme", "d1") if "it." not in row.text}
    before = {row.id: row for row in world.store.rows_of("acme", "d1")}
    world.embedder.embedded.clear()
    world.index.upserted.clear()
    world.store.written.clear()
    seen = watch(world, FIRST, SECOND)
    world.edit(SECOND)
    world.faults.at(call, fault)

    assert persist(world) <= 2

    assert "".join(world.read()) == SECOND
    assert seen == sorted(seen, key=[FIRST, SECOND].index)
    world.require_agreement()
    assert not kept & {*world.index.upserted, *world.store.written}
    assert all(world.store.rows["acme", "d1", one] == before[one] for one in kept)
    assert not [text for text in world.embedder.embedded if text.endswith(("Guide", "\nSame."))][1:]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", range(EDIT_CALLS))
def test_a_source_that_changes_between_the_tries_is_read_whole(call: int, fault: Fault) -> None:
    world, third = ingested(), "# Guide\n\nInstall it.\n\nMore."
    watch(world, FIRST, SECOND, third)
    world.edit(SECOND)
    world.faults.at(call, fault)
    with_fault(world)
    world.clock.advance(WORK_SECONDS)

    world.edit(third)
    persist(world)

    assert "".join(world.read()) == third
    world.require_agreement()


def with_fault(world: CorpusWorld) -> None:
    """Run the job once, whatever comes of it."""
    try:
        world.run()
    except FencepostError:
        return


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", range(30))
def test_other_rights_and_another_title_survive_a_fault_at_any_call(call: int, fault: Fault) -> None:
    world = ingested()
    watch(world, FIRST)
    world.queue_again(acl=Acl(audience=Audience.ORGANISATION), title="Manual")
    world.faults.at(call, fault)

    persist(world)

    world.require_agreement()
    assert {entry.grants for entry in world.index.entries.values()} == {frozenset({"members"})}
    assert {entry.context for entry in world.index.entries.values()} == {"Manual"}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", range(16))
def test_a_removal_survives_a_fault_at_any_call(call: int, fault: Fault) -> None:
    world = ingested()
    world.remove()
    world.faults.at(call, fault)

    persist(world, Purpose.REMOVE_DOCUMENT)

    assert (world.store.documents, world.store.rows, world.store.stands) == ({}, {}, {})
    assert (world.index.entries, world.blobs.all()) == ({}, [])


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", range(24))
def test_a_document_removed_after_a_fault_leaves_nothing(call: int, fault: Fault) -> None:
    world = ingested()
    world.edit(SECOND)
    world.faults.at(call, fault)
    with_fault(world)
    world.clock.advance(WORK_SECONDS)
    world.faults.due.clear()

    world.remove()
    persist(world, Purpose.REMOVE_DOCUMENT)

    assert (world.store.documents, world.store.rows, world.store.stands) == ({}, {}, {})
    assert (world.index.entries, world.blobs.all()) == ({}, [])


SITEMAP = "https://docs.example/sitemap.xml"


def sitemap(*pages: str) -> str:
    return "<urlset>" + "".join(f"<url><loc>https://docs.example/{page}</loc></url>" for page in pages) + "</urlset>"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", range(24))
def test_a_sitemap_and_its_pages_agree_after_a_fault_at_any_call(call: int, fault: Fault) -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.SITEMAP, source=SITEMAP)
    for page in ("a", "b", "c"):
        world.web.serve(f"https://docs.example/{page}", f"# {page}\n\nPage {page}.")
    world.web.serve(SITEMAP, sitemap("a", "b"))
    world.run()
    world.work()
    world.web.serve(SITEMAP, sitemap("b", "c"))
    world.queue_again()
    world.faults.at(call, fault)

    persist(world)
    sweep(world)

    pages = {row.source: row for row in world.store.documents.values() if row.parent}
    assert set(pages) == {"https://docs.example/b", "https://docs.example/c"}
    assert {row.state for row in pages.values()} == {DocumentState.READY}
    assert {entry.parent for entry in world.index.entries.values()} == {row.id for row in pages.values()}


def sweep(world: CorpusWorld) -> None:
    """Run what is still under way, as the schedule has it run."""
    for _, row in list(world.store.documents.items()):
        for _ in range(3):
            try:
                world.run(row.id, Purpose.REMOVE_DOCUMENT if row.state is DocumentState.REMOVED else Purpose.INGEST)
            except FencepostError:
                world.clock.advance(WORK_SECONDS)


def texts() -> st.SearchStrategy[str]:
    words = st.sampled_from(["Alpha.", "Beta.", "Gamma.", "Delta.", "Epsilon.", "Zeta."])
    return st.lists(words, min_size=1, max_size=8).map("\n\n".join)


@settings(max_examples=examples(150), deadline=None)
@given(
    edits=st.lists(texts(), min_size=1, max_size=5),
    faults=st.lists(st.tuples(st.integers(0, 40), st.sampled_from(FAULTS)), max_size=6),
    lag=st.integers(0, 7),
)
def test_any_edits_under_any_faults_end_in_agreement(
    edits: list[str], faults: list[tuple[int, Fault]], lag: int
) -> None:
    world, due = ingested(), iter(faults)
    world.index.lag = lag
    before = FIRST
    for text in edits:
        watch(world, before, text)
        world.edit(text)
        world.faults.due.extend(_spread(due))
        persist(world)
        world.faults.due.clear()
        assert "".join(world.read()) == text
        world.require_agreement()
        before = text


def _spread(due: Iterator[tuple[int, Fault]]) -> list[Fault | None]:
    """Return two faults as they come among the next calls."""
    return [one for _, (gap, fault) in zip(range(2), due, strict=False) for one in [*([None] * gap), fault]]


def test_what_the_index_loses_while_a_version_is_built_is_written_again() -> None:
    world = ingested()
    world.edit(SECOND)
    world.index.lag = 6
    with_fault(world)
    lost = next(row.stored_id for row in world.store.rows_of("acme", "d1") if "with care" in row.text)
    del world.index.entries[lost]
    world.index.lag = 0
    persist(world)
    assert "".join(world.read()) == SECOND
    world.require_agreement()
