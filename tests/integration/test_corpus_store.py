"""The corpus' table: documents, chunks, places and leases, inside their organisation."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fencepost.documents.domain.documents import ChunkRow, DocumentOrigin, DocumentState
from fencepost.documents.ports import ChunkVersionPlace
from fencepost.identity.domain.acl import Acl, Audience
from fencepost.identity.domain.scope import OrgRole
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.domain import WorkLease
from local.emulator import Emulator
from tests.fakes.corpus import operator
from tests.integration.corpus_tables import CorpusTable, open_corpus_table
from tests.integration.tables import lose_answers, sent_operations
from tests.worlds.corpus_samples import NOON, chunk, chunk_id, document

ACME, ZETA = operator("acme"), operator("zeta")


@pytest.fixture
def table(emulator: Emulator) -> CorpusTable:
    return open_corpus_table(emulator.endpoint_url)


def test_a_document_comes_back_as_it_was(table: CorpusTable) -> None:
    row = document(
        acl=Acl(audience=Audience.USERS, users=("u1", "u2")),
        origin=DocumentOrigin.PAGE,
        source="https://docs.example/guide",
        url="https://docs.example/guide",
        refresh_hours=24,
        checked_at=NOON,
        etag='"abc"',
        error=ErrorCode.SOURCE_UNREACHABLE,
    )

    assert table.store.create(ACME, row)

    assert table.store.get(ACME, "d1") == row
    assert table.store.get(ZETA, "d1") is None
    roles = replace(row, id="d2", acl=Acl(audience=Audience.ROLE, role=OrgRole.ADMIN))
    assert table.store.create(ACME, roles)
    assert table.store.get(ACME, "d2") == roles


def test_a_document_is_created_once_however_often_it_is_asked_for(table: CorpusTable) -> None:
    lose_answers(table.client, 1)

    assert table.store.create(ACME, document())
    assert table.store.create(ACME, document())
    assert not table.store.create(ACME, document(title="Another"))

    assert table.store.get(ACME, "d1") == document()


def test_documents_are_listed_newest_first_without_removed_ones(table: CorpusTable) -> None:
    for age in range(7):
        state = DocumentState.REMOVED if age in (1, 4) else DocumentState.READY
        table.store.create(ACME, document(f"d{age}", created_at=NOON - timedelta(hours=age), state=state))
    table.store.create(ZETA, document("foreign"))

    first = table.store.page(ACME, after=None, limit=2)
    second = table.store.page(ACME, after=first.next_key, limit=2)
    third = table.store.page(ACME, after=second.next_key, limit=2)

    assert [[row.id for row in page.items] for page in (first, second, third)] == [["d0", "d2"], ["d3", "d5"], ["d6"]]
    assert third.next_key is None


def test_of_two_changes_of_the_same_row_one_is_made(table: CorpusTable) -> None:
    before = document()
    table.store.create(ACME, before)
    wanted = [replace(before, title=f"Title {number}") for number in range(8)]

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda after: table.store.change(ACME, before, after), wanted))

    assert made.count(True) == 1
    assert table.store.get(ACME, "d1") == wanted[made.index(True)]


def test_a_change_whose_answer_was_lost_was_made(table: CorpusTable) -> None:
    before = document()
    after = replace(before, state=DocumentState.READY)
    table.store.create(ACME, before)
    lose_answers(table.client, 1)

    assert table.store.change(ACME, before, after)
    assert not table.store.change(ACME, before, replace(before, title="Too late"))
    assert not table.store.change(ZETA, after, before)


def test_chunks_come_back_page_by_page_in_half_precision(table: CorpusTable) -> None:
    rows = [chunk(f"chunk {number}", vector=(0.6, -0.8, 0.001), model="m", stored_id="s") for number in range(60)]

    table.store.put_chunks(ACME, "d1", rows)

    found = _all_chunks(table, limit=25)
    assert [row.id for row in found] == sorted(row.id for row in rows)
    assert found[0].vector == pytest.approx((0.6, -0.8, 0.001), abs=5e-4)
    assert {replace(row, vector=()) for row in found} == {replace(row, vector=()) for row in rows}
    assert table.store.chunks(ZETA, "d1", after=None, limit=25).items == ()


def test_dropped_chunks_are_gone_and_others_stay(table: CorpusTable) -> None:
    table.store.put_chunks(ACME, "d1", [chunk("a"), chunk("b")])
    table.store.put_chunks(ACME, "d2", [chunk("a", "d2")])

    table.store.drop_chunks(ACME, "d1", [chunk_id("a"), chunk_id("never there")])
    table.store.drop_chunks(ZETA, "d1", [chunk_id("b")])

    assert [row.text for row in _all_chunks(table)] == ["b"]
    assert [row.text for row in table.store.chunks(ACME, "d2", after=None, limit=9).items] == ["a"]


def test_places_belong_to_their_version(table: CorpusTable) -> None:
    names = [f"chunk {number}" for number in range(40)]
    first = {
        chunk_id(name): ChunkVersionPlace(ordinal=place, start=place, end=place + 1) for place, name in enumerate(names)
    }
    second = {one: replace(place, start=place.start + 100) for one, place in first.items()}

    table.store.put_places(ACME, "d1", 1, first)
    table.store.put_places(ACME, "d1", 2, second)
    table.store.drop_places(ACME, "d1", 1)

    wanted = [("d1", 2, one) for one in first] + [("d1", 1, chunk_id("chunk 0")), ("d2", 2, chunk_id("chunk 0"))]
    assert table.store.places(ACME, wanted) == {("d1", one): place for one, place in second.items()}
    assert table.store.places(ACME, [("d1", 1, chunk_id("chunk 0"))]) == {}
    assert table.store.places(ZETA, wanted) == {}


def test_places_written_anew_forget_those_before(table: CorpusTable) -> None:
    place = ChunkVersionPlace(ordinal=0, start=0, end=1)
    table.store.put_places(ACME, "d1", 1, {chunk_id("a"): place})
    table.store.put_places(ACME, "d1", 1, {chunk_id("b"): place})

    assert table.store.places(ACME, [("d1", 1, chunk_id("a")), ("d1", 1, chunk_id("b"))]) == {
        ("d1", chunk_id("b")): place
    }


def test_hits_are_hydrated_in_one_step_without_those_gone_or_foreign(table: CorpusTable) -> None:
    for number in range(30):
        table.store.create(ACME, document(f"d{number}"))
        table.store.put_chunks(ACME, f"d{number}", [chunk(name, f"d{number}") for name in "abcd"])
    wanted = [(f"d{number}", chunk_id(name)) for number in range(30) for name in "abcd"]
    sent = sent_operations(table.client)

    documents, rows = table.store.hydrate(ACME, [*wanted, ("d1", chunk_id("gone")), ("gone", chunk_id("a"))])

    assert set(documents) == {f"d{number}" for number in range(30)}
    assert set(rows) == set(wanted)
    assert rows["d7", chunk_id("c")].text == "c"
    assert set(sent) == {"BatchGetItem"}
    assert table.store.hydrate(ZETA, wanted) == ({}, {})
    assert table.store.hydrate(ACME, []) == ({}, {})


def test_one_worker_holds_a_document_until_its_lease_ends(table: CorpusTable) -> None:
    mine = WorkLease("mine", NOON, NOON + timedelta(minutes=2))
    theirs = WorkLease("theirs", NOON + timedelta(minutes=1), NOON + timedelta(minutes=3))
    later = replace(theirs, now=NOON + timedelta(minutes=2), until=NOON + timedelta(minutes=4))

    assert table.store.begin(ACME, "d1", mine)
    assert table.store.begin(ACME, "d1", mine)
    assert not table.store.begin(ACME, "d1", theirs)
    assert table.store.begin(ACME, "d2", theirs)
    assert table.store.begin(ACME, "d1", later)
    table.store.end(ACME, "d1", mine)
    assert not table.store.begin(ACME, "d1", replace(mine, now=later.now))
    table.store.end(ACME, "d1", later)
    assert table.store.begin(ACME, "d1", mine)


def test_nothing_is_left_of_a_removed_document(table: CorpusTable) -> None:
    table.store.create(ACME, document())
    table.store.begin(ACME, "d1", WorkLease("mine", NOON, NOON + timedelta(minutes=2)))

    table.store.remove(ACME, "d1")
    table.store.remove(ACME, "d1")

    assert table.rows() == []


def test_the_agenda_names_what_is_due_of_all_organisations(table: CorpusTable) -> None:
    ready = {"state": DocumentState.READY, "source": "https://docs.example/", "refresh_hours": 2}
    table.store.create(ACME, document("refresh", checked_at=NOON - timedelta(hours=2), **ready))
    table.store.create(ACME, document("fresh", checked_at=NOON - timedelta(hours=1), **ready))
    table.store.create(ACME, document("inline", state=DocumentState.READY))
    table.store.create(ZETA, document("stuck#1", org="zeta", updated_at=NOON - timedelta(hours=5)))
    table.store.create(ZETA, document("queued", org="zeta"))

    assert table.agenda.due(NOON, 10) == (("zeta", "stuck#1"), ("acme", "refresh"))
    assert table.agenda.due(NOON, 1) == (("zeta", "stuck#1"),)

    known = table.store.get(ZETA, "stuck#1")
    assert known
    table.store.change(ZETA, known, replace(known, state=DocumentState.READY))
    assert table.agenda.due(NOON, 10) == (("acme", "refresh"),)


def test_an_upload_that_never_comes_does_not_stay_announced(table: CorpusTable) -> None:
    awaited = document(state=DocumentState.AWAITED)
    table.store.create(ACME, awaited)
    assert int(table.rows()[0]["expires_at"]["N"]) == int((NOON + timedelta(days=1)).timestamp())

    table.store.change(ACME, awaited, replace(awaited, state=DocumentState.QUEUED))

    assert "expires_at" not in table.rows()[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.get(ACME, "d1"),
        lambda store: store.create(ACME, document()),
        lambda store: store.page(ACME, after=None, limit=1),
        lambda store: store.chunks(ACME, "d1", after=None, limit=1),
        lambda store: store.put_chunks(ACME, "d1", [chunk("a")]),
        lambda store: store.drop_chunks(ACME, "d1", ["a"]),
        lambda store: store.hydrate(ACME, [("d1", "a")]),
        lambda store: store.end(ACME, "d1", WorkLease("mine", NOON, NOON)),
    ],
)
def test_a_store_that_does_not_answer_says_so(table: CorpusTable, call: Callable[[Any], object]) -> None:
    gone = CorpusTable(table.client, "no-such-table")

    with pytest.raises(FencepostError) as raised:
        call(gone.store)

    assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE


def _all_chunks(table: CorpusTable, limit: int = 100) -> list[ChunkRow]:
    found, after = list[ChunkRow](), None
    while True:
        page = table.store.chunks(ACME, "d1", after=after, limit=limit)
        found += page.items
        if page.next_key is None:
            return found
        after = page.next_key
