"""The query: what is found, in whose scope, before its deadline, and what is left out on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from fencepost.documents.domain.documents import Document, DocumentState
from fencepost.identity.domain.scope import Acl, Audience
from fencepost.queue.domain import Purpose
from fencepost.retrieval.domain.ranking.fusion import LIST_LIMIT
from fencepost.retrieval.domain.search import Passage
from fencepost.retrieval.service.retriever import RetrievalQuery, RetrievedPassages
from tests.fakes.corpus import operator
from tests.fakes.retrieval import PATIENT, SHORT, Library, reader
from tests.worlds.corpus_samples import document

PUBLIC = frozenset({"site:docs", "site:*"})
MEMBERS = PUBLIC | {"members"}


def ask(
    library: Library,
    question: str = "install linux",
    *,
    wanted: int = 3,
    grants: frozenset[str] = PUBLIC,
    deadline: float = PATIENT,
) -> RetrievedPassages:
    query = RetrievalQuery(text=question, grants=grants, wanted={"document": wanted})
    return library.recall(deadline).search(reader(), query)["document"]


def texts(found: RetrievedPassages) -> list[str]:
    return [passage.text for passage in found.passages]


def waited(condition: Callable[[], object]) -> bool:
    """Wait for what another thread does."""
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return bool(condition())


class TestWhatIsFound:
    def test_a_passage_leads_back_to_its_row_and_says_where_it_stands(self) -> None:
        library = Library()
        url = "https://docs.example/guide"
        rows = library.shelve(document(url=url), "install on linux with make", "billing and refunds")
        found = ask(library)
        first = found.passages[0]
        assert (first.text, first.title, first.url) == ("install on linux with make", "Guide › Part 0", url)
        assert (first.id, first.span) == (f"d1#{rows[0].id[:8]}", (0, len(rows[0].text)))
        assert (found.degraded, found.any) == (False, True)

    def test_one_embedding_and_both_queries_at_three_times_the_number_wanted(self) -> None:
        library = Library()
        library.shelve(document(), "install on linux")
        ask(library, wanted=60)
        assert library.searching.count("query") == 1
        assert [search.limit for search in library.index.searches] == [180, 180]
        assert ask(library, wanted=3).any
        assert library.index.searches[-1].limit == LIST_LIMIT

    def test_no_more_than_wanted_and_the_same_each_time(self) -> None:
        library = Library()
        library.shelve(document(), *(f"install linux version {n}" for n in range(40)))
        runs = [ask(library, wanted=5).passages for _ in range(5)]
        assert [len(run) for run in runs] == [5] * 5
        assert all(run == runs[0] for run in runs)

    def test_below_the_floor_nothing_is_returned_though_there_is_something(self) -> None:
        library = Library(floor=0.5)
        library.shelve(document(), "billing and refunds")
        assert ask(library, "weather tomorrow") == RetrievedPassages(any=True)

    def test_an_empty_index_says_so(self) -> None:
        assert ask(Library()) == RetrievedPassages()

    def test_a_section_gives_three_passages_at_most(self) -> None:
        library = Library()
        library.shelve(document(), *(f"install linux {n}" for n in range(9)), headed=False)
        library.shelve(document("d2", title="Other"), "linux elsewhere")
        parents = [passage.parent for passage in ask(library, wanted=10).passages]
        assert sorted(parents) == ["d1", "d1", "d1", "d2"]

    def test_ids_are_longer_where_short_ones_would_be_the_same(self) -> None:
        library = Library()
        one, two = library.shelve(document(), "install linux one", "install linux two")
        twin = replace(two, id=f"{one.id[:11]}{two.id[11:]}")
        library.drop([two])
        library.corpus.rows["acme", "d1", twin.id] = twin
        stored = next(stored for stored, chunk in library.index.of("d1").items() if chunk == two.id)
        library.index.entries[stored] = replace(library.index.entries[stored], chunk=twin.id)
        ids = {passage.id for passage in ask(library).passages}
        assert len(ids) == 2
        assert all(len(name) > len("d1#") + 8 for name in ids)


class TestStarvation:
    def test_dead_hits_make_room_for_the_next_however_many_they_are(self) -> None:
        library = Library()
        dead = library.shelve(document("gone"), *(f"install linux now {n}" for n in range(80)))
        library.shelve(document("there"), "install it on linux some day", "linux")
        library.drop(dead)
        found = ask(library, "install linux now", wanted=2)
        assert [passage.parent for passage in found.passages] == ["there", "there"]
        assert not found.degraded

    def test_dead_hits_are_queued_once_for_each_document_and_removed_by_the_job(self) -> None:
        library = Library()
        rows = library.shelve(document(), "install linux now", "install linux then", "linux")
        library.drop(rows[:2])
        assert texts(ask(library)) == ["linux"]
        assert waited(lambda: library.queue.jobs)
        (job,) = library.queue.jobs
        assert (job.org, job.purpose, job.document) == ("acme", Purpose.REMOVE_STRAYS, "d1")
        library.removal().run(operator(), job)
        assert list(library.index.of("d1").values()) == [rows[2].id]

    def test_entries_of_a_removed_document_are_dead(self) -> None:
        library = Library()
        library.shelve(document(), "install linux")
        gone = library.corpus.documents["acme", "d1"]
        library.corpus.documents["acme", "d1"] = replace(gone, state=DocumentState.REMOVED)
        assert ask(library).passages == ()
        assert waited(lambda: library.queue.jobs)
        library.removal().run(operator(), library.queue.jobs[0])
        assert library.index.of("d1") == {}

    def test_a_queue_that_is_down_hurts_nobody(self) -> None:
        library = Library()
        library.queue.faults.at(0, "before")
        library.drop(library.shelve(document(), "install linux now")[:1])
        library.shelve(document("d2"), "linux")
        assert texts(ask(library)) == ["linux"]

    @pytest.mark.parametrize(("since", "until"), [(2, None), (1, 1)])
    def test_what_is_of_another_version_is_not_shown(self, since: int, until: int | None) -> None:
        library = Library()
        row, _ = library.shelve(document(), "install linux new", "install linux")
        library.corpus.rows["acme", "d1", row.id] = replace(row, since=since, until=until)
        assert texts(ask(library)) == ["install linux"]

    def test_what_is_being_built_is_not_dead(self) -> None:
        library = Library()
        row, _ = library.shelve(document(), "install linux new", "install linux")
        library.corpus.rows["acme", "d1", row.id] = replace(row, since=2)
        ask(library)
        assert library.queue.jobs == []


class TestIsolation:
    def test_another_organisations_documents_are_never_found(self) -> None:
        library = Library()
        library.shelve(document(org="globex"), "install linux")
        assert ask(library) == RetrievedPassages()

    @pytest.mark.parametrize(
        ("acl", "site"),
        [
            (Acl(audience=Audience.ORGANISATION), "docs"),
            (Acl(audience=Audience.USERS, users=("ben",)), "docs"),
            (Acl(audience=Audience.ROLE), "docs"),
            (Acl(), "other"),
        ],
    )
    def test_what_the_reader_has_no_grant_for_is_not_found(self, acl: Acl, site: str) -> None:
        library = Library()
        library.shelve(document(acl=acl, site=site), "install linux")
        assert ask(library) == RetrievedPassages()

    def test_a_right_that_ended_holds_at_once_though_the_entries_still_have_it(self) -> None:
        library = Library()
        library.shelve(document(acl=Acl(audience=Audience.ORGANISATION)), "install linux")
        assert texts(ask(library, grants=MEMBERS)) == ["install linux"]
        known = library.corpus.documents["acme", "d1"]
        library.corpus.documents["acme", "d1"] = replace(known, acl=Acl(audience=Audience.ROLE))
        assert ask(library, grants=MEMBERS).passages == ()
        assert library.queue.jobs == []

    def test_an_entry_cannot_widen_what_its_document_allows(self) -> None:
        library = Library()
        library.shelve(document(acl=Acl(audience=Audience.ORGANISATION)), "install linux")
        for stored, entry in library.index.entries.items():
            library.index.entries[stored] = replace(entry, grants=PUBLIC)
        assert ask(library).passages == ()

    def test_a_row_of_another_organisation_is_not_shown_whatever_the_store_says(self) -> None:
        library = Library()
        library.shelve(document(), "install linux")
        known = library.corpus.documents["acme", "d1"]
        library.corpus.documents["acme", "d1"] = replace(known, org="globex")
        assert ask(library).passages == ()


class TestDegraded:
    @pytest.fixture
    def library(self) -> Library:
        library = Library()
        library.shelve(document(), "install linux", "billing")
        return library

    @pytest.mark.parametrize("part", ["lexical", "nearest"])
    def test_a_query_that_fails_leaves_the_other(self, library: Library, part: str) -> None:
        library.index.down = {part}
        found = ask(library)
        assert texts(found)[0] == "install linux"
        assert found.degraded

    @pytest.mark.parametrize("part", ["lexical", "nearest"])
    def test_a_query_that_is_late_is_left_out(self, library: Library, part: str) -> None:
        library.index.held = {part}
        found = ask(library, deadline=2.0)
        library.index.free.set()
        assert texts(found)[0] == "install linux"
        assert found.degraded

    def test_a_dead_index_finds_nothing(self, library: Library) -> None:
        library.index.down = {"lexical", "nearest"}
        assert ask(library) == RetrievedPassages(degraded=True)

    def test_an_index_that_never_answers_finds_nothing(self, library: Library) -> None:
        library.index.held = {"lexical", "nearest"}
        assert ask(library, deadline=SHORT) == RetrievedPassages(degraded=True)
        library.index.free.set()

    def test_a_dead_embedder_leaves_the_words(self, library: Library) -> None:
        library.embedder.faults.due.extend(["before"] * 9)
        library.index.faults = library.faults
        found = ask(library)
        assert texts(found) == ["install linux"]
        assert found.degraded

    def test_rows_that_do_not_answer_are_shown_by_nobody(self, library: Library) -> None:
        library.faults.at(0, "before")
        assert ask(library) == RetrievedPassages(degraded=True, any=True)

    def test_without_places_a_passage_has_no_span(self, library: Library) -> None:
        library.faults.at(1, "before")
        found = ask(library)
        assert texts(found)[0] == "install linux"
        assert found.passages[0].span is None
        assert found.degraded


class TestAddresses:
    @pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "http://[", "", "/x"])
    def test_what_is_no_web_address_is_none(self, url: str) -> None:
        assert _shown(document(url=url)).url == ""

    def test_an_address_is_made_inert(self) -> None:
        assert _shown(document(url='https://a.example/"><b>x')).url == "https://a.example/%22%3E%3Cb%3Ex"

    def test_a_title_is_plain_text(self) -> None:
        title = _shown(document(title="[x](javascript:alert(1))<b>`bold`\u202e")).title
        assert not set("[]<>`\u202e").intersection(title)


def _shown(row: Document) -> Passage:
    library = Library()
    library.shelve(row, "install linux")
    return ask(library).passages[0]
