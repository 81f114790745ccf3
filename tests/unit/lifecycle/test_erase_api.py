"""To be forgotten, over HTTP: what is answered, what is queued, and what happens when a store fails on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from fencepost.blobs.domain import UPLOAD_SECONDS
from fencepost.identity.domain.scope import Action, Operator, Resource, authorize
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.domain.erasures import LEFT
from fencepost.lifecycle.routes.erase import EraseRoutes
from fencepost.lifecycle.service.erase import INLINE_ROWS, EraseService
from fencepost.observability.domain.events import ErasureEvent
from fencepost.queue.domain import DELAYS, Job, JobState, Purpose
from fencepost.queue.service import new_record
from tests.fakes.conversations import owned
from tests.fakes.eraser import FakeEraser
from tests.fakes.memory import FakeJobs
from tests.worlds.api import ANN, BOB, ApiWorld
from tests.worlds.chat import NOON, Reply

ROWS = {"messages": 2, "pointers": 1}
BIG = INLINE_ROWS * 2


@dataclass
class EraseWorld:
    """The API with an eraser, and conversations to erase."""

    api: ApiWorld = field(default_factory=ApiWorld)
    eraser: FakeEraser = field(default_factory=FakeEraser)
    jobs: FakeJobs = field(default_factory=FakeJobs)

    def __post_init__(self) -> None:
        shelf = self.api.store.shelf
        self.eraser.on_forget = lambda scope, one: shelf.conversations.pop(owned(scope, one))
        self.api.more_routes = EraseRoutes(self.service).routes()

    @property
    def service(self) -> EraseService:
        return EraseService(
            conversations=self.api.store,
            eraser=self.eraser,
            jobs=self.jobs,
            keys=self.api.keys,
            events=self.api.events,
            clock=self.api.clock,
        )

    def converse(self, conversation_id: str, visitor: str = ANN, **rows: int) -> None:
        scope = self.api.scope(visitor)
        self.api.converse(scope, conversation_id)
        self.eraser.living[owned(scope, conversation_id)] = Counter(rows or ROWS)

    def delete(self, address: str, who: Mapping[str, str] | None = None) -> Reply:
        return self.api.ask("DELETE", address, who or self.api.visitor())

    def receipt(self, receipt_id: str, who: Mapping[str, str] | None = None) -> Reply:
        return self.api.ask("GET", f"/v1/erasures/{receipt_id}", who or self.api.visitor())

    def come(self, job: Job) -> None:
        """Let the job run, as it is authorised when it comes."""
        caller = Operator(job.org)
        assert job.actor == caller.owner
        self.service.run(authorize(caller, Action.ERASE, Resource(job.org, job.owner)), job)

    @property
    def results(self) -> list[str]:
        return [event.result for event in self.api.events.of(ErasureEvent)]


@pytest.fixture
def world() -> EraseWorld:
    return EraseWorld()


def test_a_conversation_is_erased_with_a_receipt(world: EraseWorld) -> None:
    world.converse("c1")
    reply = world.delete("/v1/conversations/c1")
    assert reply.status == 200
    receipt_id = reply.json.pop("receiptId")
    counts = {"conversations": 1, "messages": 2, "pointers": 1}
    assert reply.json == {"receiptId": receipt_id, "status": "running", "counts": counts, "verified": True}
    assert world.receipt(receipt_id).json == reply.json
    assert world.api.ask("GET", "/v1/conversations/c1", world.api.visitor()).status == 404


def test_what_is_too_much_for_a_request_is_left_to_the_job(world: EraseWorld) -> None:
    world.converse("c1", messages=BIG)
    reply = world.delete("/v1/conversations/c1")
    assert (reply.status, reply.json["status"], reply.json["verified"]) == (202, "running", False)
    assert reply.json["counts"] == {"conversations": 1, "messages": INLINE_ROWS}
    assert world.api.ask("GET", "/v1/conversations/c1", world.api.visitor()).status == 404
    [job] = world.jobs.queued
    world.come(job)
    receipt = world.receipt(reply.json["receiptId"]).json
    assert (receipt["status"], receipt["counts"]["messages"]) == ("done", BIG)


def test_a_receipt_is_done_when_no_form_from_before_can_be_used_any_more(world: EraseWorld) -> None:
    world.converse("c1")
    receipt_id = world.delete("/v1/me").json["receiptId"]
    assert world.receipt(receipt_id).json["status"] == "running"
    world.eraser.forgotten[owned(world.api.scope(), "late")] = Counter(objects=1)
    world.come(world.jobs.queued[0])
    receipt = world.receipt(receipt_id).json
    assert (receipt["status"], receipt["verified"], receipt["counts"]["objects"]) == ("done", True, 1)


def test_a_form_ends_minutes_before_its_erasure_looks_again() -> None:
    assert timedelta(seconds=UPLOAD_SECONDS) + timedelta(minutes=5) <= DELAYS[Purpose.ERASE]


def test_the_job_comes_again_though_everything_seemed_gone_and_removes_what_came_since(world: EraseWorld) -> None:
    world.converse("c1")
    receipt_id = world.delete("/v1/conversations/c1").json["receiptId"]
    world.eraser.forgotten[owned(world.api.scope(), "c1")] = Counter(objects=1)
    [job] = world.jobs.queued
    world.come(job)
    assert world.receipt(receipt_id).json["counts"] == {"conversations": 1, **ROWS, "objects": 1}
    record = world.jobs.job(world.api.scope(), receipt_id)
    assert record is not None
    assert record.state is JobState.DONE


def test_everything_of_an_owner_goes_and_nothing_of_another(world: EraseWorld) -> None:
    world.converse("c1")
    world.converse("c2")
    world.converse("theirs", BOB)
    world.eraser.facts["acme", f"visitor:{ANN}"] = 3
    reply = world.delete("/v1/me")
    assert reply.status == 200
    assert reply.json["counts"] == {"conversations": 2, "facts": 3, "messages": 4, "pointers": 2}
    assert world.api.ask("GET", "/v1/conversations", world.api.visitor()).json == {"items": []}
    assert world.api.ask("GET", "/v1/conversations/theirs", world.api.visitor(BOB)).status == 200


def test_to_be_forgotten_twice_is_no_error(world: EraseWorld) -> None:
    assert world.delete("/v1/me").json["counts"] == {}
    assert world.delete("/v1/me").status == 200


def test_absent_foreign_and_erased_are_one_answer(world: EraseWorld) -> None:
    world.converse("c1")
    world.converse("theirs", BOB)
    world.delete("/v1/conversations/c1")
    replies = [world.delete(f"/v1/conversations/{one}") for one in ("c1", "theirs", "nowhere")]
    assert [(reply.status, reply.text, reply.headers) for reply in replies] == [
        (404, replies[0].text, replies[0].headers)
    ] * 3
    assert world.api.ask("GET", "/v1/conversations/theirs", world.api.visitor(BOB)).status == 200
    assert len(world.jobs.queued) == 1


def test_somebody_elses_receipt_and_other_jobs_are_nothing(world: EraseWorld) -> None:
    world.converse("theirs", BOB)
    receipt_id = world.delete("/v1/conversations/theirs", world.api.visitor(BOB)).json["receiptId"]
    other = new_record(world.api.scope(), Purpose.EXPORT, NOON)
    world.jobs.queue(world.api.scope(), other)
    for absent in (receipt_id, other.id, "nowhere"):
        assert world.receipt(absent).code == "not_found"


def test_without_a_token_nothing_is_erased(world: EraseWorld) -> None:
    world.converse("c1")
    assert world.api.send("DELETE", "/v1/me").status == 401
    assert world.api.send("DELETE", "/v1/conversations/c1").status == 401
    assert world.eraser.calls == []


def test_a_revoked_member_erases_nothing(world: EraseWorld) -> None:
    world.api.converse(world.api.member_scope(), "c1")
    world.api.directory.revoke("acme", "u1")
    assert world.delete("/v1/conversations/c1", world.api.member()).code == "not_found"
    assert world.delete("/v1/me", world.api.member()).code == "not_found"
    assert world.eraser.calls == []


def test_the_job_goes_on_for_a_member_who_was_revoked_since(world: EraseWorld) -> None:
    scope = world.api.member_scope()
    world.api.converse(scope, "c1")
    world.eraser.living[owned(scope, "c1")] = Counter(messages=BIG)
    world.delete("/v1/conversations/c1", world.api.member())
    world.api.directory.revoke("acme", "u1")
    [job] = world.jobs.queued
    world.come(job)
    assert world.eraser.leftovers(scope, "c1") == {}


@pytest.mark.parametrize("address", ["/v1/conversations/c1", "/v1/me"])
def test_nothing_is_forgotten_before_its_job_is_queued(world: EraseWorld, address: str) -> None:
    world.converse("c1")
    world.jobs.faults.due.append("before")
    assert world.delete(address).code == "conversations_unavailable"
    assert world.eraser.calls == []
    assert world.api.ask("GET", "/v1/conversations/c1", world.api.visitor()).status == 200


@pytest.mark.parametrize("fault", ["before", "after"])
@pytest.mark.parametrize("step", [1, 2])
def test_a_store_that_fails_while_it_sweeps_delays_and_loses_nothing(world: EraseWorld, step: int, fault: str) -> None:
    world.converse("c1")
    world.eraser.faults.extend([None] * step)
    world.eraser.faults.append("before" if fault == "before" else "after")
    reply = world.delete("/v1/conversations/c1")
    assert (reply.status, reply.json["status"], reply.json["counts"]) == (202, "running", {"conversations": 1})
    [job] = world.jobs.queued
    world.come(job)
    assert world.receipt(reply.json["receiptId"]).json["verified"] is True


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_store_that_fails_as_it_forgets_is_said(world: EraseWorld, fault: str) -> None:
    world.converse("c1")
    world.eraser.faults.append("before" if fault == "before" else "after")
    assert world.delete("/v1/conversations/c1").code == "conversations_unavailable"
    [job] = world.jobs.queued
    world.come(job)
    left = world.eraser.forgotten.get(owned(world.api.scope(), "c1"), Counter())
    assert left.total() == 0


def test_what_cannot_be_removed_is_a_finding_and_comes_again(world: EraseWorld) -> None:
    world.eraser.stuck = frozenset({"objects"})
    world.converse("c1", messages=2, objects=1)
    reply = world.delete("/v1/conversations/c1")
    assert (reply.status, reply.json["verified"]) == (202, False)
    assert world.results == ["forgotten", "leftovers"]
    [job] = world.jobs.queued
    with pytest.raises(FencepostError) as failure:
        world.come(job)
    assert failure.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE
    assert world.api.events.of(ErasureEvent)[-1].left == 1


def test_an_erasure_is_told_step_by_step_under_pseudonyms(world: EraseWorld) -> None:
    world.converse("c1", messages=BIG)
    world.delete("/v1/conversations/c1")
    world.come(world.jobs.queued[0])
    assert world.results == ["forgotten", "swept", "verified"]
    for event in world.api.events.of(ErasureEvent):
        assert event.what == "conversation"
        assert "c1" not in event.model_dump_json()


def test_counts_hold_no_trace_of_the_verifiers_own(world: EraseWorld) -> None:
    world.converse("c1")
    assert LEFT not in world.delete("/v1/conversations/c1").json["counts"]


def test_a_job_whose_record_is_gone_has_nothing_to_do(world: EraseWorld) -> None:
    world.converse("c1")
    world.delete("/v1/conversations/c1")
    world.jobs.forget(world.api.scope())
    calls = len(world.eraser.calls)
    world.come(world.jobs.queued[0])
    assert len(world.eraser.calls) == calls
