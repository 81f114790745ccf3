"""The query for what was said elsewhere: what is found, what dead hits cost, and what removes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Barrier, Event

import pytest

from fencepost.conversations.domain.messages import MessageStatus
from fencepost.documents.service.indexing import DocumentRows
from fencepost.identity.domain.scope import Action, Operator, Resource, Scope, authorize
from fencepost.jobs.service.orphans import OrphanRemoval
from fencepost.jobs.service.runner import action_of
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.paging import Page
from fencepost.queue.domain import OPERATOR, Job, Purpose
from fencepost.retrieval.ports import Stored
from fencepost.retrieval.service.retriever import RetrievalQuery, RetrievedPassages
from tests.fakes.conversations import owned
from tests.fakes.index import FakeIndex
from tests.fakes.retrieval import PATIENT, Library, reader
from tests.unit.retrieval.test_recall import texts, waited
from tests.worlds.corpus_samples import NOON, document

ANN = reader()
BEN = reader(visitor="ben")


@pytest.fixture
def library() -> Library:
    library = Library()
    library.diary.clock.advance((NOON - library.diary.clock()).total_seconds())
    return library


def ask(
    library: Library, question: str = "red van", *, wanted: int = 3, within: str = "", deadline: float = PATIENT
) -> RetrievedPassages:
    query = RetrievalQuery(text=question, wanted={"message": wanted}, conversation=within)
    return library.recall(deadline).search(ANN, query)["message"]


def queued(library: Library) -> Job:
    """Return the one job that was queued, with what it may do."""
    assert waited(lambda: library.queue.jobs)
    (job,) = library.queue.jobs
    return job


class TestWhatIsFound:
    def test_messages_of_other_conversations_and_none_of_this_one(self, library: Library) -> None:
        library.diary.tell(ANN, "c1", "I drive a red van.")
        library.diary.tell(ANN, "c2", "My red car is no van.", "Noted.")
        assert texts(ask(library, within="c2")) == ["I drive a red van."]

    def test_a_message_gives_its_best_part_and_no_other(self, library: Library) -> None:
        content = "My red van is old. And this old red van is the van that I mean."
        (said,) = library.diary.tell(ANN, "c1", content)
        library.index.entries.clear()
        library.diary.enter(ANN, "c1", said, (0, 18), (18, len(content)))
        found = ask(library, "old red van that")
        assert [(passage.id, passage.span) for passage in found.passages] == [("msg:c1-q1", (18, len(content)))]

    def test_an_entry_that_is_listed_after_it_was_replaced_hides_nothing(self, library: Library) -> None:
        """Its version tells no age, so it may well be the one that stands for both."""
        library.diary.tell(ANN, "c1", "I drive a red van.")
        (entry,) = library.index.entries.values()
        library.index.entries["replaced"] = replace(entry, version=entry.version + 1)
        assert texts(ask(library)) == ["I drive a red van."]
        assert not library.queue.jobs

    def test_documents_and_messages_are_found_at_once_and_apart(self, library: Library) -> None:
        library.shelve(document(), "the red van of the firm")
        library.diary.tell(ANN, "c1", "I drive a red van.")
        query = RetrievalQuery(text="red van", grants=frozenset({"site:docs"}), wanted={"document": 3, "message": 3})
        found = library.recall().search(ANN, query)
        assert {kind: texts(one) for kind, one in found.items()} == {
            "document": ["the red van of the firm"],
            "message": ["I drive a red van."],
        }
        assert library.searching.count("query") == 1

    def test_the_rows_of_both_are_read_at_the_same_time(self, library: Library) -> None:
        library.shelve(document(), "the red van of the firm")
        library.diary.tell(ANN, "c1", "I drive a red van.")
        both = Barrier(2, timeout=30)
        for faults in (library.faults, library.diary.hits.faults):
            faults.between = once(both.wait)
        query = RetrievalQuery(text="red van", grants=frozenset({"site:docs"}), wanted={"document": 3, "message": 3})
        found = library.recall().search(ANN, query)
        assert all(one.passages and not one.degraded for one in found.values())

    def test_nobody_elses(self, library: Library) -> None:
        for whose in (BEN, reader("globex"), reader("globex", "ben")):
            library.diary.tell(whose, "c1", "I drive a red van.")
        assert ask(library) == RetrievedPassages()

    def test_what_is_not_wanted_is_not_looked_for(self, library: Library) -> None:
        library.diary.tell(ANN, "c1", "I drive a red van.")
        query = RetrievalQuery(text="red van", grants=frozenset({"site:docs"}), wanted={"document": 3, "message": 0})
        assert "message" not in library.recall().search(ANN, query)
        assert {search.kind for search in library.index.searches} == {"document"}


class TestStarvation:
    def test_dead_hits_make_room_for_the_next_however_many_they_are(self, library: Library) -> None:
        diary = library.diary
        diary.tell(ANN, "gone", *(f"red van {n}" for n in range(80)))
        diary.tell(ANN, "there", "one red bus", "a blue van")
        diary.erase(ANN, "gone")
        found = ask(library, wanted=2)
        assert sorted(texts(found)) == ["a blue van", "one red bus"]
        assert not found.degraded

    def test_nor_do_those_that_are_hidden_for_a_while(self, library: Library) -> None:
        diary = library.diary
        diary.tell(ANN, "old", *(f"red van {n}" for n in range(80)))
        diary.tell(ANN, "there", "one red bus", "a blue van")
        diary.parts.rows.pop(owned(ANN, "old"))
        assert sorted(texts(ask(library, wanted=2))) == ["a blue van", "one red bus"]
        assert library.queue.jobs == []

    def test_forged_entries_of_others_starve_nobody_and_are_removed(self, library: Library) -> None:
        diary = library.diary
        diary.tell(BEN, "secret", *(f"red van of ben {n}" for n in range(80)))
        diary.tell(ANN, "there", "one red bus")
        for stored, entry in library.index.entries.items():
            library.index.entries[stored] = replace(entry, owner=ANN.owner)
        assert texts(ask(library)) == ["one red bus"]
        assert queued(library).conversation == "secret"


class TestElsewhere:
    @pytest.fixture
    def archived(self, library: Library) -> Library:
        library.diary.tell(ANN, "new", "one red bus")
        library.diary.tell(ANN, "old", "the red van", archived_through=1)
        return library

    def test_an_archived_message_is_shown_with_its_words(self, archived: Library) -> None:
        assert texts(ask(archived)) == ["the red van", "one red bus"]

    def test_where_it_cannot_be_read_the_others_are_shown_and_it_is_not(self, archived: Library) -> None:
        archived.diary.conversations.faults.due.append("before")
        found = ask(archived)
        assert texts(found) == ["one red bus"]
        assert found.degraded

    def test_where_it_comes_too_late_the_others_are_in_time(
        self, archived: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers = Event()
        monkeypatch.setattr(archived.diary.conversations, "messages", lambda *_, **__: answers.wait())
        found = ask(archived, deadline=2.0)
        answers.set()
        assert texts(found) == ["one red bus"]
        assert found.degraded

    def test_what_is_not_there_any_more_is_no_fault(self, archived: Library) -> None:
        archived.diary.shelf.messages.pop(owned(ANN, "old"))
        found = ask(archived)
        assert texts(found) == ["one red bus"]
        assert not found.degraded

    def test_rows_that_do_not_answer_are_shown_by_nobody(self, archived: Library) -> None:
        archived.diary.hits.faults.at(0, "before")
        assert ask(archived) == RetrievedPassages(degraded=True, any=True)


class TestStrays:
    def test_a_conversation_that_is_there_is_looked_through_from_its_first_message(self, library: Library) -> None:
        library.diary.tell(ANN, "c1", "red van", "red van", site="shop")
        library.diary.rewrite(ANN, "c1", 2, status=MessageStatus.SUPERSEDED)
        assert texts(ask(library)) == ["red van"]
        job = queued(library)
        assert (job.purpose, job.conversation, job.incarnation) == (Purpose.REMEMBER, "c1", "i-c1")
        assert (job.org, job.owner, job.actor, job.site) == ("acme", ANN.owner, ANN.owner, "shop")
        assert job.revises

    def test_of_one_that_is_gone_everything_is_removed_and_nothing_of_others(self, library: Library) -> None:
        diary = library.diary
        for whose in (ANN, BEN, reader("globex")):
            diary.tell(whose, "c1", "red van", "noted")
        diary.tell(ANN, "c2", "red bus")
        diary.erase(ANN, "c1")
        assert texts(ask(library)) == ["red bus"]
        job = queued(library)
        assert (job.purpose, job.conversation, job.owner) == (Purpose.REMOVE_STRAYS, "c1", ANN.owner)
        library.removal().run(scope_of(job), job)
        left = sorted((entry.org, entry.owner, entry.parent) for entry in library.index.entries.values())
        assert left == [
            ("acme", "visitor:ann", "c2"),
            *[("acme", "visitor:ben", "c1")] * 2,
            *[("globex", "visitor:ann", "c1")] * 2,
        ]

    def test_of_one_that_came_back_nothing_is_removed(self, library: Library) -> None:
        diary = library.diary
        diary.tell(ANN, "c1", "red van")
        diary.erase(ANN, "c1")
        ask(library)
        job = queued(library)
        diary.tell(ANN, "c1", "red van again")
        library.removal().run(scope_of(job), job)
        assert len(library.index.of("c1")) == 2

    def test_one_that_comes_back_while_its_entries_are_removed_loses_nothing(self, library: Library) -> None:
        diary = library.diary
        diary.tell(ANN, "c1", *["red van"] * 500)
        before = set(library.index.of("c1"))
        diary.erase(ANN, "c1")
        ask(library)
        job = queued(library)
        returns = _ReturnsAfter(library, listings=2)
        removal = OrphanRemoval(DocumentRows(library.corpus, returns), library.diary.conversations, library.clock)
        removal.run(scope_of(job), job)
        left = set(library.index.of("c1"))
        assert len(left - before) == 1
        assert 0 < len(before - left) < len(before)

    def test_an_index_that_does_not_answer_brings_the_job_again(self, library: Library) -> None:
        library.diary.tell(ANN, "c1", "red van")
        library.diary.erase(ANN, "c1")
        ask(library)
        job = queued(library)
        library.index.faults = library.faults
        library.faults.at(0, "before")
        with pytest.raises(FencepostError) as caught:
            library.removal().run(scope_of(job), job)
        assert caught.value.code is ErrorCode.INDEX_UNAVAILABLE


class _ReturnsAfter(FakeIndex):
    """The library's index, in which an import brings the conversation back after some listings."""

    def __init__(self, library: Library, listings: int) -> None:
        super().__init__()
        self.library, self.left = library, listings
        self.entries = library.index.entries

    def listed(self, scope: Scope, after: str | None, limit: int, parent: str = "", owner: str = "") -> Page[Stored]:
        page = super().listed(scope, after, limit, parent, owner)
        self.left -= 1
        if not self.left:
            self.library.diary.tell(ANN, "c1", "red van again")
        return page


def once(call: Callable[[], object]) -> Callable[[], None]:
    """Return what makes a call the first time that it is called."""
    left = [call]

    def made() -> None:
        if left:
            left.pop()()

    return made


def scope_of(job: Job) -> Scope:
    """Return the scope in which a job runs: of the operator, whose jobs these are."""
    assert job.actor == OPERATOR
    return authorize(Operator(job.org), action_of(job.purpose), Resource(job.org, job.owner))


def test_a_visitor_may_not_have_such_a_job_run() -> None:
    assert action_of(Purpose.REMOVE_STRAYS) is Action.ADMINISTER
