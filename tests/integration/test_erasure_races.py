"""Whatever writes while something is erased, at whatever moment: nothing of it is there afterwards.

Each writer is interrupted before each of its requests to the store by a whole erasure, and each erasure before each of
its requests by a whole writer. After the second look of the erasure, nothing may be left of what was erased.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.archive import DynamoDbArchive
from fencepost.adapters.dynamodb.attachments import DynamoDbAttachments
from fencepost.adapters.dynamodb.carrying import DynamoDbCarryStore
from fencepost.adapters.dynamodb.conversations import DynamoDbConversations
from fencepost.adapters.dynamodb.eraser import DynamoDbEraser
from fencepost.adapters.dynamodb.imports import DynamoDbImports
from fencepost.adapters.dynamodb.jobs import DynamoDbJobStore
from fencepost.adapters.dynamodb.memory import DynamoDbMemoryStore
from fencepost.adapters.dynamodb.removal import Removal
from fencepost.adapters.dynamodb.turns import DynamoDbTurnStore
from fencepost.domain import objects
from fencepost.domain.archives import Block, pack
from fencepost.domain.attachments import PLAIN
from fencepost.domain.bundle_check import AskedQuestion
from fencepost.domain.conversation import Role
from fencepost.domain.errors import FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.jobs import Job, JobState, Purpose, WorkLease
from fencepost.domain.memory import Fact, FactState
from fencepost.domain.messages import AnswerContext, Conversation, Message, MessagePointer, MessageStatus
from fencepost.domain.turns import Claim, Settlement, fingerprint
from local.emulator import Emulator
from tests.integration.conversation_tables import visitor_scope
from tests.integration.erasure_world import NOON, ErasureWorld, job_record, open_erasure_world, summary_of
from tests.integration.tables import connect

DOOMED = "doomed"
BEFORE, LATER = NOON - timedelta(minutes=1), NOON + timedelta(minutes=1)
PLENTY = 10_000
# An erasure makes many requests: every seventh is tried, unless EXHAUSTIVE asks for each.
_STEP = 1 if os.environ.get("EXHAUSTIVE") else 7
BIG = "A long answer. " * 4_000


@dataclass
class Stores:
    """Every store that writes, on a client that can be interrupted before its n-th request."""

    world: ErasureWorld
    scope: Scope
    row: Conversation
    interrupt_at: int | None = None
    interruption: Callable[[], object] = lambda: None
    requests: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.client = connect(self.world.tables.client.meta.endpoint_url)
        self.client.meta.events.register("before-call.dynamodb", self._count)

    def _count(self, **_: Any) -> None:
        self.requests += 1
        if self.requests - 1 == self.interrupt_at:
            self.interruption()

    @property
    def table(self) -> str:
        return self.world.tables.conversations

    @property
    def turns(self) -> DynamoDbTurnStore:
        return DynamoDbTurnStore(self.table, self.world.tables.directory, self.world.blobs, lambda: self.client)

    @property
    def conversations(self) -> DynamoDbConversations:
        return DynamoDbConversations(self.table, self.world.blobs, lambda: self.client)

    @property
    def memory(self) -> DynamoDbMemoryStore:
        return DynamoDbMemoryStore(self.table, lambda: self.client)

    @property
    def jobs(self) -> DynamoDbJobStore:
        return DynamoDbJobStore(self.table, lambda: self.client, lambda: LATER)

    @property
    def archive(self) -> DynamoDbArchive:
        return DynamoDbArchive(self.table, self.world.blobs, lambda: self.client)

    @property
    def imports(self) -> DynamoDbImports:
        return DynamoDbImports(self.table, self.world.blobs, lambda: self.client)

    @property
    def eraser(self) -> DynamoDbEraser:
        return DynamoDbEraser(self.table, self.world.blobs, lambda: self.client)


type Writer = Callable[[Stores], object]


def a_turn(stores: Stores) -> None:
    """Claim, load, and settle an answer that is big enough for S3."""
    if stores.turns.claim(stores.scope, _claim()) is None:
        material = stores.turns.load(stores.scope, DOOMED, 10)
        stores.turns.settle(stores.scope, _settlement(material.conversation if material else stores.row))


def a_turn_that_fails(stores: Stores) -> None:
    if stores.turns.claim(stores.scope, _claim()) is None:
        stores.turns.release(stores.scope, DOOMED, "h", LATER)


def a_dead_turn_that_is_parked(stores: Stores) -> None:
    if stores.turns.claim(stores.scope, _claim(BIG)) is None:
        row = stores.conversations.get(stores.scope, DOOMED)
        if row:
            stores.turns.park(stores.scope, row, LATER)


def a_rename(stores: Stores) -> None:
    stores.conversations.rename(stores.scope, DOOMED, "A title", LATER)


def a_rating(stores: Stores) -> None:
    pointer = stores.conversations.pointer(stores.scope, f"{DOOMED}-q1")
    if pointer:
        stores.conversations.rate(stores.scope, pointer, None, "up")


def a_title(stores: Stores) -> None:
    stores.memory.name_conversation(stores.scope, DOOMED, stores.row.incarnation, "A title")


def a_summary(stores: Stores) -> None:
    stores.memory.write_summary(stores.scope, DOOMED, stores.row.incarnation, summary_of(DOOMED))


def a_summary_that_is_dropped(stores: Stores) -> None:
    stores.memory.drop_summary(stores.scope, DOOMED)


def an_approval(stores: Stores) -> None:
    carrying = DynamoDbCarryStore(stores.table, stores.world.tables.directory, lambda: stores.client)
    carrying.approve(stores.scope, DOOMED, f"summary-{DOOMED}")


def proposed_facts(stores: Stores) -> None:
    stores.memory.change_facts(stores.scope, lambda _: [_drawn("new", FactState.PROPOSED)], job=_job(stores))


def an_approved_fact(stores: Stores) -> None:
    """A fact that is there moves from one state to another, as its owner or another fact would move it."""

    def moved(facts: Any) -> list[Fact]:
        return [replace(fact, state=FactState.PROPOSED) for fact in facts if fact.state is FactState.PINNED]

    stores.memory.change_facts(stores.scope, moved)


def work_on_it(stores: Stores) -> None:
    lease = WorkLease("worker", NOON, LATER)
    if stores.jobs.begin(stores.scope, _job(stores), lease) is not None:
        stores.jobs.end(stores.scope, _job(stores), lease, 4)


def an_archive(stores: Stores) -> None:
    row = stores.conversations.get(stores.scope, DOOMED)
    messages = stores.archive.rows(stores.scope, DOOMED, after=0, limit=2)
    if row and messages:
        content = pack(messages)
        block = _block(messages, content)
        stores.world.blobs.put(stores.scope, block.object, content, "application/gzip")
        stores.archive.move(stores.scope, row, block, messages)


def a_cut(stores: Stores) -> None:
    row = stores.conversations.get(stores.scope, DOOMED)
    if row:
        stores.archive.keep_from(stores.scope, row, 3)


WRITERS = [
    a_turn,
    a_turn_that_fails,
    a_dead_turn_that_is_parked,
    a_rename,
    a_rating,
    a_title,
    a_summary,
    a_summary_that_is_dropped,
    an_approval,
    proposed_facts,
    an_approved_fact,
    work_on_it,
    an_archive,
    a_cut,
]

THAT_STORE_ROWS = [
    a_turn,
    a_dead_turn_that_is_parked,
    a_rating,
    a_summary,
    proposed_facts,
    an_approved_fact,
    work_on_it,
    an_archive,
]


def an_import(stores: Stores) -> None:
    """An import, made before the erasure, of a conversation that is not there."""
    job, question = _job(stores, Purpose.IMPORT), _message("coming-q1", 1, BIG)
    incarnation = stores.imports.begin(stores.scope, "coming", job, "i")
    if incarnation is None or not stores.imports.write_messages(stores.scope, "coming", incarnation, [question]):
        return
    pointer = MessagePointer("coming-q1", "coming", 1, fingerprint(BIG))
    if stores.imports.write_questions(stores.scope, "coming", incarnation, [AskedQuestion(pointer, {})]):
        stores.imports.finish(stores.scope, replace(stores.row, id="coming", incarnation=incarnation))


def imported_facts(stores: Stores) -> None:
    stores.memory.write_facts(stores.scope, [_drawn("new", FactState.PINNED)], made_at=BEFORE)


def a_file_that_is_read(stores: Stores) -> None:
    attachments = DynamoDbAttachments(stores.table, lambda: stores.client)
    known = attachments.get(stores.scope, ["file"]).get("file")
    if known and attachments.advance(stores.scope, replace(known, characters=4)):
        stores.world.blobs.put(stores.scope, objects.attachment_text("file"), b"text", PLAIN)


def an_export_that_is_published(stores: Stores) -> None:
    stores.world.blobs.put(stores.scope, objects.export_bundle("export"), b"zip", "application/zip")
    stores.jobs.advance(stores.scope, "export", JobState.DONE, progress={})


WRITERS_OF_OWNERS = [*WRITERS, an_import, imported_facts, a_file_that_is_read, an_export_that_is_published]


@pytest.fixture
def world(emulator: Emulator) -> ErasureWorld:
    return open_erasure_world(emulator)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_writer_that_is_interrupted_by_the_erasure_of_its_conversation(
    world: ErasureWorld, scope: Scope, writer: Writer
) -> None:
    def erased() -> None:
        assert world.eraser.forget_conversation(scope, DOOMED, NOON)
        world.eraser.sweep(scope, DOOMED, PLENTY)

    for moment in count():
        stores = _planted(world, scope, moment, erased)
        finished = _run(stores, writer)
        if finished:
            break
        _second_look(world, scope, DOOMED)
        assert world.naming(DOOMED) == [], moment
    assert moment > 0


@pytest.mark.parametrize("writer", THAT_STORE_ROWS)
def test_an_erasure_of_a_conversation_that_is_interrupted_by_a_writer(
    world: ErasureWorld, scope: Scope, writer: Writer
) -> None:
    def erase(stores: Stores) -> None:
        assert stores.eraser.forget_conversation(scope, DOOMED, NOON)
        stores.eraser.sweep(scope, DOOMED, PLENTY)

    for moment in count(step=_STEP):
        stores = _planted(world, scope, moment, lambda: _quietly(_planted_stores(world, scope), writer))
        finished = _run(stores, erase)
        _second_look(world, scope, DOOMED)
        assert world.naming(DOOMED) == [], moment
        if finished:
            break
    assert moment > 3


@pytest.mark.parametrize("writer", WRITERS_OF_OWNERS)
def test_a_writer_that_is_interrupted_by_the_erasure_of_its_owner(
    world: ErasureWorld, scope: Scope, writer: Writer
) -> None:
    def erased() -> None:
        world.eraser.forget_owner(scope, NOON)
        world.eraser.sweep(scope, None, PLENTY)

    for moment in count():
        stores = _planted(world, scope, moment, erased)
        finished = _run(stores, writer)
        if finished:
            break
        _second_look(world, scope, None)
        assert _left(world, scope) == [], moment
    assert moment > 0


@pytest.mark.parametrize("writer", [an_import, imported_facts, an_approved_fact, proposed_facts, a_turn])
def test_an_erasure_of_an_owner_that_is_interrupted_by_a_writer(
    world: ErasureWorld, scope: Scope, writer: Writer
) -> None:
    """What a writer that began before it brings in on the way is removed as well, or refused."""

    def erase(stores: Stores) -> None:
        stores.eraser.forget_owner(scope, NOON)
        stores.eraser.sweep(scope, None, PLENTY)

    for moment in count(step=_STEP):
        stores = _planted(world, scope, moment, lambda: _quietly(_planted_stores(world, scope), writer))
        finished = _run(stores, erase)
        _second_look(world, scope, None)
        assert _left(world, scope) == [], moment
        if finished:
            break
    assert moment > 3


def _planted(world: ErasureWorld, scope: Scope, moment: int, interruption: Callable[[], object]) -> Stores:
    """Return stores of a fresh conversation that are interrupted at a moment."""
    _cleared(world)
    row = world.plant(scope, DOOMED, turns=1)
    world.attach(scope, "file")
    world.put(replace(job_record(scope, "export", Purpose.EXPORT)), keys.job_row(scope, "export"))
    return Stores(world, scope, row, moment, interruption)


def _planted_stores(world: ErasureWorld, scope: Scope) -> Stores:
    """Return stores of what is there, that nothing interrupts."""
    return Stores(world, scope, _row())


def _run(stores: Stores, act: Writer) -> bool:
    """Run, and tell whether it came to its end before the moment of the interruption."""
    _quietly(stores, act)
    assert stores.interrupt_at is not None
    return stores.requests <= stores.interrupt_at


def _quietly(stores: Stores, act: Writer) -> None:
    # A writer may fail, as long as it leaves nothing.
    with suppress(FencepostError):
        act(stores)


def _second_look(world: ErasureWorld, scope: Scope, conversation_id: str | None) -> None:
    world.eraser.sweep(scope, conversation_id, PLENTY)
    assert world.eraser.leftovers(scope, conversation_id) == {}


def _left(world: ErasureWorld, scope: Scope) -> list[str]:
    rows, stored = world.everything()
    staying = ("gone#", "work#facts", "erased")
    return [f"{pk} {sk}" for pk, sk in rows if not sk.startswith(staying)] + sorted(stored)


def _cleared(world: ErasureWorld) -> None:
    rows, stored = world.everything()
    Removal(world.tables.conversations, lambda: world.tables.client).remove([keys.key(*row) for row in rows])
    for name in stored:
        world.s3.delete_object(Bucket=world.bucket, Key=name)


def _row() -> Conversation:
    return Conversation(
        id=DOOMED,
        site="docs",
        incarnation=f"incarnation-{DOOMED}",
        title="",
        created_at=NOON,
        updated_at=NOON,
        next_seq=3,
    )


def _claim(content: str = "And then?") -> Claim:
    return Claim(
        conversation_id=DOOMED,
        message_id=f"{DOOMED}-q9",
        fingerprint=fingerprint(content),
        site="docs",
        content=content,
        holder="h",
        now=NOON,
        until=LATER,
    )


def _settlement(row: Conversation) -> Settlement:
    question = _message(f"{DOOMED}-q9", 3, "And then?")
    answer = replace(_message(f"{DOOMED}-q9.1", 4, BIG), role=Role.ASSISTANT, status=MessageStatus.COMPLETE)
    context = AnswerContext(
        answer_id=answer.id,
        created_at=NOON,
        model="m",
        prompt_version="1",
        permission_version=0,
        layers=(),
        usage=None,
        cost_microdollars=0,
    )
    return Settlement(
        conversation=row,
        holder="h",
        question=question,
        question_seq=3,
        question_id=question.id,
        answer=answer,
        context=context,
        now=NOON,
    )


def _message(message_id: str, seq: int, content: str) -> Message:
    answered = MessageStatus.ANSWERED
    return Message(id=message_id, seq=seq, role=Role.USER, content=content, created_at=NOON, status=answered)


def _drawn(fact_id: str, state: FactState) -> Fact:
    """Return a fact that was drawn from the doomed conversation."""
    return Fact(
        id=f"{DOOMED}-{fact_id}",
        text="F",
        state=state,
        pinned_by="owner",
        created_at=NOON,
        provenance=(f"{DOOMED}-q1",),
    )


def _block(messages: Sequence[Message], content: bytes) -> Block:
    return Block(
        first_seq=messages[0].seq,
        last_seq=messages[-1].seq,
        object=objects.block(DOOMED, messages[0].seq, content),
        sha256=hashlib.sha256(content).hexdigest(),
        first_at=NOON,
        last_at=NOON,
    )


def _job(stores: Stores, purpose: Purpose = Purpose.PROPOSE_FACTS) -> Job:
    return Job(
        org=stores.scope.org,
        owner=stores.scope.owner,
        actor=stores.scope.owner,
        purpose=purpose,
        permission_version=0,
        created_at=BEFORE,
        conversation=DOOMED,
        incarnation=stores.row.incarnation,
        record="job",
    )
