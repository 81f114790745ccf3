"""What every `VectorIndex` keeps, lists and removes; part of `IndexConformance`."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.ports import Stored, VectorIndex
from tests.conformance.index_entries import DOCUMENTS, MESSAGES, MODEL, Owner, Subject, chunks, towards


class IndexKeepingConformance:
    """The tests. Whoever inherits gives the fixture `subject`."""

    def test_nothing_is_written_deleted_or_seen_for_nothing(self, subject: Subject) -> None:
        one = Owner()
        assert subject.index.upsert(one.scope, ()) == ()
        assert subject.index.delete(one.scope, ()) == 0
        assert subject.index.visible(one.scope, ()) == frozenset()

    def test_what_was_deleted_is_gone_everywhere(self, subject: Subject) -> None:
        one = Owner()
        stored = subject.write(one.scope, one.entry("c1"), one.entry("c2"), one.entry("c3", kind="message"))
        assert subject.index.delete(one.scope, [stored[0], stored[2]]) == 2
        subject.settle()
        assert chunks(subject.index.lexical(one.scope, DOCUMENTS, "words")) == ["c2"]
        assert chunks(subject.index.nearest(one.scope, DOCUMENTS, towards(0), MODEL.name)) == ["c2"]
        assert subject.index.lexical(one.scope, MESSAGES, "words") == ()
        assert chunks(subject.index.listed(one.scope, None, 10).items) == ["c2"]
        assert subject.index.visible(one.scope, stored) == {stored[1]}

    def test_deleting_twice_or_what_never_was_is_no_error(self, subject: Subject) -> None:
        one = Owner()
        (stored,) = subject.write(one.scope, one.entry())
        for there in (1, 0):
            unheard_of = [f"{one.org}:unheard-of", "unheard-of", ""]
            assert subject.index.delete(one.scope, [stored, *unheard_of, stored]) == there
            # What was deleted may still be found, and is not counted again.
            assert subject.index.delete(one.scope, [stored]) == 0
            subject.settle()
        assert subject.index.visible(one.scope, [stored, "unheard-of"]) == frozenset()

    def test_nobody_deletes_or_sees_what_is_another_organisations(self, subject: Subject) -> None:
        one, other = Owner(), Owner()
        stored = subject.write(one.scope, one.entry())
        assert subject.index.delete(other.scope, stored) == 0
        subject.settle()
        assert subject.index.visible(one.scope, stored) == set(stored)
        assert subject.index.visible(other.scope, stored) == frozenset()

    def test_a_chunk_that_is_written_twice_is_two_entries(self, subject: Subject) -> None:
        one = Owner()
        (older,) = subject.write(one.scope, one.entry(text="the older words"))
        (newer,) = subject.write(one.scope, one.entry(text="the newer words"))
        subject.index.delete(one.scope, [older])
        subject.settle()
        (hit,) = subject.index.lexical(one.scope, DOCUMENTS, "words")
        assert (hit.stored_id, hit.text) == (newer, "the newer words")

    def test_all_of_an_organisation_is_listed_page_by_page(self, subject: Subject) -> None:
        one, other = Owner(), Owner()
        colleague = Owner(one.org, "member:u2")
        subject.write(other.scope, other.entry("foreign"))
        subject.write(one.scope, *(one.entry(f"c{n}") for n in range(5)), one.entry("m1", kind="message"))
        subject.write(colleague.scope, colleague.entry("m2", kind="message", parent="p2", version=4))
        listed = everything(subject.index, one.scope, 3)
        assert sorted(chunks(listed)) == ["c0", "c1", "c2", "c3", "c4", "m1", "m2"]
        (of_colleague,) = [item for item in listed if item.chunk == "m2"]
        assert (of_colleague.owner, of_colleague.parent, of_colleague.version) == ("member:u2", "p2", 4)
        assert of_colleague.model == MODEL.name
        assert subject.index.visible(one.scope, [of_colleague.stored_id]) == {of_colleague.stored_id}
        assert chunks(subject.index.listed(one.scope, None, 10, parent="p2").items) == ["m2"]

    def test_all_of_an_owner_is_listed_page_by_page_and_nobody_elses(self, subject: Subject) -> None:
        one, stranger = Owner(), Owner()
        others = Owner(one.org, "member:u2"), Owner(one.org, "member:u"), Owner(stranger.org, one.name)
        for other in others:
            subject.write(other.scope, *(other.entry(f"other{n}", kind="message") for n in range(3)))
        subject.write(one.scope, *(one.entry(f"d{n}") for n in range(2)))
        subject.write(one.scope, *(one.entry(f"m{n}", kind="message", parent=f"p{n % 2}") for n in range(7)))
        for limit in (2, 7, 100):
            listed = everything(subject.index, one.scope, limit, owner=one.name)
            assert sorted(chunks(listed)) == [f"m{n}" for n in range(7)]
            assert {item.owner for item in listed} == {one.name}
        of_one_parent = subject.index.listed(one.scope, None, 100, parent="p1", owner=one.name).items
        assert sorted(chunks(of_one_parent)) == ["m1", "m3", "m5"]
        assert subject.index.listed(one.scope, None, 100, parent="p1", owner="member:u3").items == ()

    def test_an_owners_entries_are_removed_as_they_are_listed(self, subject: Subject) -> None:
        one = Owner()
        colleague = Owner(one.org, "member:u2")
        subject.write(one.scope, one.entry("d1"), *(one.entry(f"m{n}", kind="message") for n in range(5)))
        subject.write(colleague.scope, colleague.entry("m9", kind="message"))
        removed, after = 0, None
        while True:
            page = subject.index.listed(one.scope, after, 2, owner=one.name)
            removed += subject.index.delete(one.scope, [item.stored_id for item in page.items])
            if page.next_key is None:
                break
            after = page.next_key
        subject.settle()
        assert removed == 5
        assert sorted(chunks(everything(subject.index, one.scope, 100))) == ["d1", "m9"]


def everything(index: VectorIndex, scope: Scope, limit: int, owner: str = "") -> Sequence[Stored]:
    """List page by page, and check that only the last page is not full."""
    found: list[Stored] = []
    after: str | None = None
    while True:
        page = index.listed(scope, after, limit, owner=owner)
        found += page.items
        if page.next_key is None:
            return found
        assert len(page.items) == limit
        after = page.next_key
