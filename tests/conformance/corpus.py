"""Conformance tests of every `DocumentStore` and `DueDocumentStore`: documents, chunks, places and leases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.documents.domain.documents import ChunkRow, DocumentOrigin, DocumentState
from fencepost.documents.ports import ChunkVersionPlace, DocumentStore, DueDocumentStore
from fencepost.identity.domain.scope import Acl, Audience, OrgRole
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.domain import WorkLease
from tests.fakes.corpus import operator
from tests.worlds.corpus_samples import NOON, chunk, chunk_id, document

ACME, ZETA = operator("acme"), operator("zeta")


class CorpusConformance:
    """The tests. A subclass provides the fixtures `subject` and `agenda` over the same rows, and both broken."""

    def test_a_document_is_returned_as_it_was_created(self, subject: DocumentStore) -> None:
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
        assert subject.create(ACME, row)
        assert subject.get(ACME, "d1") == row
        assert subject.get(ZETA, "d1") is None
        roles = replace(row, id="d2", acl=Acl(audience=Audience.ROLE, role=OrgRole.ADMIN))
        assert subject.create(ACME, roles)
        assert subject.get(ACME, "d2") == roles

    def test_creating_the_same_document_twice_succeeds_and_another_one_fails(self, subject: DocumentStore) -> None:
        assert subject.create(ACME, document())
        assert subject.create(ACME, document())
        assert not subject.create(ACME, document(title="Another"))
        assert subject.get(ACME, "d1") == document()

    def test_a_removed_state_is_returned_by_id(self, subject: DocumentStore) -> None:
        removed = document(state=DocumentState.REMOVED)
        subject.create(ACME, removed)
        assert subject.get(ACME, "d1") == removed

    def test_documents_are_listed_newest_first_without_removed_ones(self, subject: DocumentStore) -> None:
        for age in range(7):
            state = DocumentState.REMOVED if age in (1, 4) else DocumentState.READY
            subject.create(ACME, document(f"d{age}", created_at=NOON - timedelta(hours=age), state=state))
        subject.create(ZETA, document("foreign"))
        first = subject.page(ACME, after=None, limit=2)
        second = subject.page(ACME, after=first.next_key, limit=2)
        third = subject.page(ACME, after=second.next_key, limit=2)
        ids = [[row.id for row in page.items] for page in (first, second, third)]
        assert ids == [["d0", "d2"], ["d3", "d5"], ["d6"]]
        assert third.next_key is None

    def test_a_page_that_holds_the_last_document_has_no_next_key(self, subject: DocumentStore) -> None:
        for number in range(2):
            subject.create(ACME, document(f"d{number}"))
        page = subject.page(ACME, after=None, limit=2)
        assert ([row.id for row in page.items], page.next_key) == (["d1", "d0"], None)

    def test_a_change_requires_the_document_as_it_was_read(self, subject: DocumentStore) -> None:
        before = document()
        after = replace(before, state=DocumentState.READY)
        assert not subject.change(ACME, before, after)
        subject.create(ACME, before)
        assert subject.change(ACME, before, after)
        assert subject.change(ACME, before, after)
        assert not subject.change(ACME, before, replace(before, title="Too late"))
        assert not subject.change(ZETA, after, before)
        assert subject.get(ACME, "d1") == after

    def test_chunks_are_listed_by_id_with_vectors_in_half_precision(self, subject: DocumentStore) -> None:
        rows = [chunk(f"chunk {number}", vector=(0.6, -0.8, 0.001), model="m", stored_id="s") for number in range(60)]
        subject.put_chunks(ACME, "d1", rows)
        found = _all_chunks(subject, limit=25)
        assert [row.id for row in found] == sorted(row.id for row in rows)
        assert found[0].vector == pytest.approx((0.6, -0.8, 0.001), abs=5e-4)
        assert {replace(row, vector=()) for row in found} == {replace(row, vector=()) for row in rows}
        assert subject.chunks(ZETA, "d1", after=None, limit=25).items == ()

    def test_dropping_chunks_leaves_other_documents_and_organisations(self, subject: DocumentStore) -> None:
        subject.put_chunks(ACME, "d1", [chunk("a"), chunk("b")])
        subject.put_chunks(ACME, "d2", [chunk("a", "d2")])
        subject.drop_chunks(ACME, "d1", [chunk_id("a"), chunk_id("never there")])
        subject.drop_chunks(ZETA, "d1", [chunk_id("b")])
        assert [row.text for row in _all_chunks(subject)] == ["b"]
        assert [row.text for row in subject.chunks(ACME, "d2", after=None, limit=9).items] == ["a"]

    def test_a_chunk_written_again_replaces_the_row(self, subject: DocumentStore) -> None:
        subject.put_chunks(ACME, "d1", [chunk("a", since=1)])
        subject.put_chunks(ACME, "d1", [chunk("a", since=2)])
        assert [row.since for row in _all_chunks(subject)] == [2]

    def test_places_belong_to_their_version(self, subject: DocumentStore) -> None:
        names = [f"chunk {number}" for number in range(40)]
        first = {
            chunk_id(name): ChunkVersionPlace(ordinal=place, start=place, end=place + 1)
            for place, name in enumerate(names)
        }
        second = {one: replace(place, start=place.start + 100) for one, place in first.items()}
        subject.put_places(ACME, "d1", 1, first)
        subject.put_places(ACME, "d1", 2, second)
        subject.drop_places(ACME, "d1", 1)
        wanted = [("d1", 2, one) for one in first] + [("d1", 1, chunk_id("chunk 0")), ("d2", 2, chunk_id("chunk 0"))]
        assert subject.places(ACME, wanted) == {("d1", one): place for one, place in second.items()}
        assert subject.places(ACME, [("d1", 1, chunk_id("chunk 0"))]) == {}
        assert subject.places(ZETA, wanted) == {}

    def test_places_written_again_replace_all_of_the_version(self, subject: DocumentStore) -> None:
        place = ChunkVersionPlace(ordinal=0, start=0, end=1)
        subject.put_places(ACME, "d1", 1, {chunk_id("a"): place})
        subject.put_places(ACME, "d1", 1, {chunk_id("b"): place})
        wanted = [("d1", 1, chunk_id("a")), ("d1", 1, chunk_id("b"))]
        assert subject.places(ACME, wanted) == {("d1", chunk_id("b")): place}

    def test_hydration_leaves_out_missing_and_foreign_rows(self, subject: DocumentStore) -> None:
        for number in range(30):
            subject.create(ACME, document(f"d{number}"))
            subject.put_chunks(ACME, f"d{number}", [chunk(name, f"d{number}") for name in "abcd"])
        wanted = [(f"d{number}", chunk_id(name)) for number in range(30) for name in "abcd"]
        documents, rows = subject.hydrate(ACME, [*wanted, ("d1", chunk_id("gone")), ("gone", chunk_id("a"))])
        assert set(documents) == {f"d{number}" for number in range(30)}
        assert set(rows) == set(wanted)
        assert rows["d7", chunk_id("c")].text == "c"
        assert subject.hydrate(ZETA, wanted) == ({}, {})
        assert subject.hydrate(ACME, []) == ({}, {})

    def test_one_worker_holds_a_document_until_its_lease_ends(self, subject: DocumentStore) -> None:
        mine = WorkLease("mine", NOON, NOON + timedelta(minutes=2))
        theirs = WorkLease("theirs", NOON + timedelta(minutes=1), NOON + timedelta(minutes=3))
        later = replace(theirs, now=NOON + timedelta(minutes=2), until=NOON + timedelta(minutes=4))
        assert subject.begin(ACME, "d1", mine)
        assert subject.begin(ACME, "d1", mine)
        assert not subject.begin(ACME, "d1", theirs)
        assert subject.begin(ACME, "d2", theirs)
        assert subject.begin(ACME, "d1", later)
        subject.end(ACME, "d1", mine)
        assert not subject.begin(ACME, "d1", replace(mine, now=later.now))
        subject.end(ACME, "d1", later)
        assert subject.begin(ACME, "d1", mine)

    def test_removing_a_document_removes_its_lease(self, subject: DocumentStore) -> None:
        subject.create(ACME, document())
        subject.begin(ACME, "d1", WorkLease("mine", NOON, NOON + timedelta(minutes=2)))
        subject.remove(ZETA, "d1")
        assert subject.get(ACME, "d1") == document()
        subject.remove(ACME, "d1")
        subject.remove(ACME, "d1")
        assert subject.get(ACME, "d1") is None
        assert subject.begin(ACME, "d1", WorkLease("theirs", NOON, NOON + timedelta(minutes=2)))

    def test_the_agenda_names_due_documents_of_all_organisations(
        self, subject: DocumentStore, agenda: DueDocumentStore
    ) -> None:
        ready = {"state": DocumentState.READY, "source": "https://docs.example/", "refresh_hours": 2}
        subject.create(ACME, document("refresh", checked_at=NOON - timedelta(hours=2), **ready))
        subject.create(ACME, document("fresh", checked_at=NOON - timedelta(hours=1), **ready))
        subject.create(ACME, document("inline", state=DocumentState.READY))
        subject.create(ZETA, document("stuck#1", org="zeta", updated_at=NOON - timedelta(hours=5)))
        subject.create(ZETA, document("queued", org="zeta"))
        assert agenda.due(NOON, 10) == (("zeta", "stuck#1"), ("acme", "refresh"))
        assert agenda.due(NOON, 1) == (("zeta", "stuck#1"),)
        known = subject.get(ZETA, "stuck#1")
        assert known
        subject.change(ZETA, known, replace(known, state=DocumentState.READY))
        assert agenda.due(NOON, 10) == (("acme", "refresh"),)

    @pytest.mark.parametrize(
        "call",
        [
            lambda store: store.get(ACME, "d1"),
            lambda store: store.create(ACME, document()),
            lambda store: store.page(ACME, after=None, limit=1),
            lambda store: store.change(ACME, document(), document(title="Another")),
            lambda store: store.remove(ACME, "d1"),
            lambda store: store.chunks(ACME, "d1", after=None, limit=1),
            lambda store: store.put_chunks(ACME, "d1", [chunk("a")]),
            lambda store: store.drop_chunks(ACME, "d1", ["a"]),
            lambda store: store.put_places(ACME, "d1", 1, {"a": ChunkVersionPlace(ordinal=0, start=0, end=1)}),
            lambda store: store.drop_places(ACME, "d1", 1),
            lambda store: store.places(ACME, [("d1", 1, "a")]),
            lambda store: store.hydrate(ACME, [("d1", "a")]),
            lambda store: store.begin(ACME, "d1", WorkLease("mine", NOON, NOON)),
            lambda store: store.end(ACME, "d1", WorkLease("mine", NOON, NOON)),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self, broken: DocumentStore, call: Callable[[DocumentStore], object]
    ) -> None:
        with pytest.raises(FencepostError) as raised:
            call(broken)
        assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE

    def test_an_unreachable_agenda_raises_the_same_error(self, broken_agenda: DueDocumentStore) -> None:
        with pytest.raises(FencepostError) as raised:
            broken_agenda.due(NOON, 1)
        assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE


def _all_chunks(subject: DocumentStore, limit: int = 100) -> list[ChunkRow]:
    found, after = list[ChunkRow](), None
    while True:
        page = subject.chunks(ACME, "d1", after=after, limit=limit)
        found += page.items
        if page.next_key is None:
            return found
        after = page.next_key
