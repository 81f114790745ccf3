"""Due documents are queued once, and are due again if their job is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fencepost.documents.domain.documents import STUCK_AFTER, Document, DocumentState
from fencepost.identity.domain.scope import Scope
from fencepost.jobs.handlers.schedule import Schedule, ScheduleFailed
from fencepost.jobs.service import due_documents
from fencepost.jobs.service.due_documents import DueDocuments
from fencepost.jobs.service.index_diff import DiffPage
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.domain.events import BatchEvent, Event, JobEvent
from fencepost.queue.domain import Job, Purpose
from tests.fakes.answers import FixedClock
from tests.fakes.corpus import FakeCorpus, FakeJobQueue, operator
from tests.worlds.corpus_samples import document
from tests.worlds.jobs import FakeEvents

DAY = timedelta(days=1)
SOURCE = "https://docs.example/guide"


class World:
    """Due documents over fakes; its clock is far enough after the documents for everything to be due."""

    def __init__(self) -> None:
        self.corpus, self.queue = FakeCorpus(), FakeJobQueue()
        self.clock = FixedClock(document().updated_at + DAY)
        self.due = DueDocuments(agenda=self.corpus, store=self.corpus, queue=self.queue, clock=self.clock)

    def store(self, name: str, org: str = "acme", **fields: Any) -> Document:
        stored = replace(document(), id=name, org=org, **fields)
        assert self.corpus.create(operator(org), stored)
        return stored

    def queued(self) -> list[tuple[str, str | None, Purpose]]:
        return [(job.org, job.document, job.purpose) for job in self.due.run()]

    def get(self, name: str, org: str = "acme") -> Document:
        found = self.corpus.get(operator(org), name)
        assert found
        return found


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize(
    ("state", "purpose", "after"),
    [
        (DocumentState.QUEUED, Purpose.INGEST, DocumentState.QUEUED),
        (DocumentState.INDEXING, Purpose.INGEST, DocumentState.INDEXING),
        (DocumentState.REMOVED, Purpose.REMOVE_DOCUMENT, DocumentState.REMOVED),
    ],
)
def test_work_that_did_not_come_to_its_end_is_queued_again(
    world: World, state: DocumentState, purpose: Purpose, after: DocumentState
) -> None:
    world.store("d1", state=state)
    assert world.queued() == [("acme", "d1", purpose)]
    assert [job.document for job in world.queue.jobs] == ["d1"]
    assert (world.get("d1").state, world.get("d1").updated_at) == (after, world.clock())


@pytest.mark.parametrize("state", [DocumentState.READY, DocumentState.FAILED])
def test_a_source_is_asked_again_when_its_time_has_come(world: World, state: DocumentState) -> None:
    world.store("hourly", state=state, source=SOURCE, refresh_hours=1)
    world.store("weekly", state=state, source=SOURCE, refresh_hours=24 * 7)
    world.store("never", state=state, source=SOURCE)
    assert world.queued() == [("acme", "hourly", Purpose.INGEST)]
    assert world.get("hourly").state is DocumentState.QUEUED
    assert world.get("weekly").state is state


def test_an_upload_that_is_waited_for_is_left_alone(world: World) -> None:
    world.store("d1", state=DocumentState.AWAITED)
    assert world.queued() == []


def test_what_was_queued_is_not_queued_again_before_it_is_taken_for_lost(world: World) -> None:
    world.store("d1", state=DocumentState.QUEUED)
    assert len(world.queued()) == 1
    assert world.queued() == []
    world.clock.now += STUCK_AFTER
    assert len(world.queued()) == 1


def test_each_organisations_documents_are_queued_in_its_own_scope(world: World) -> None:
    for org in ("acme", "other"):
        world.store("d1", org, state=DocumentState.QUEUED)
    assert sorted(org for org, _, _ in world.queued()) == ["acme", "other"]
    assert {(job.org, job.actor) for job in world.queue.jobs} == {("acme", "operator"), ("other", "operator")}


def test_a_document_that_changes_meanwhile_is_somebody_elses(world: World) -> None:
    before = world.store("d1", state=DocumentState.QUEUED)

    class Faster(FakeCorpus):
        def change(self, scope: Scope, before: Document, after: Document) -> bool:
            world.corpus.change(scope, before, replace(before, state=DocumentState.REMOVED))
            return world.corpus.change(scope, before, after)

    rival = Faster()
    rival.documents = world.corpus.documents
    assert not list(replace(world.due, store=rival).run())
    assert world.get("d1") == replace(before, state=DocumentState.REMOVED)


def test_what_the_agenda_still_names_and_is_gone_is_passed_over(world: World) -> None:
    class Late(FakeCorpus):
        def due(self, now: object, limit: int) -> tuple[tuple[str, str], ...]:
            return (("acme", "gone"), ("acme", "done"))

    world.store("done", state=DocumentState.READY)
    assert not list(replace(world.due, agenda=Late()).run())
    assert world.queue.jobs == []


def test_more_than_one_page_is_queued(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_documents, "PAGE", 3)
    for number in range(10):
        world.store(f"d{number}", state=DocumentState.QUEUED)
    assert len(set(world.queued())) == 10


def test_an_agenda_that_is_behind_ends_the_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_documents, "PAGE", 1)

    class Behind(FakeCorpus):
        asked = 0

        def due(self, now: object, limit: int) -> tuple[tuple[str, str], ...]:
            self.asked += 1
            return (("acme", "d1"),)

    agenda = Behind()
    world.store("d1", state=DocumentState.QUEUED)
    assert len(list(replace(world.due, agenda=agenda).run())) == 1
    assert agenda.asked == 2


def test_a_job_that_is_lost_between_row_and_queue_is_due_again(world: World) -> None:
    class Silent(FakeJobQueue):
        def send(self, jobs: object) -> None:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    world.store("d1", state=DocumentState.READY, source=SOURCE, refresh_hours=1)
    with pytest.raises(FencepostError):
        list(replace(world.due, queue=Silent()).run())
    world.clock.now += STUCK_AFTER
    assert world.queued() == [("acme", "d1", Purpose.INGEST)]


# The handler.


def test_what_is_queued_is_reported(world: World) -> None:
    world.store("d1", state=DocumentState.QUEUED)
    log = FakeEvents()
    Schedule(world.due.run, nothing_to_compare, log)({}, None)
    job, batch = log.seen
    assert job == JobEvent(purpose=Purpose.INGEST, result="queued")
    assert batch == BatchEvent(source="schedule", records=1, failed=0, milliseconds=milliseconds(batch))


@pytest.mark.parametrize("error", [FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE), ValueError("a secret word")])
def test_a_run_that_fails_counts_as_an_error_and_quotes_nothing(error: Exception) -> None:
    def broken() -> Iterator[Job]:
        yield from ()
        raise error

    log = FakeEvents()
    with pytest.raises(ScheduleFailed) as raised:
        Schedule(broken, nothing_to_compare, log)({}, None)
    batch = log.seen[-1]
    assert batch == BatchEvent(source="schedule", records=0, failed=1, milliseconds=milliseconds(batch))
    # Lambda writes the whole chain of an error into its own log.
    assert (str(raised.value), raised.value.__context__) == ("", None)


def nothing_to_compare() -> Iterator[DiffPage]:
    raise AssertionError("the queueing of due documents was asked for")


def milliseconds(event: Event) -> float:
    assert isinstance(event, BatchEvent)
    return event.milliseconds
