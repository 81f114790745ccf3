"""Whatever writes about a conversation or for its owner, each as one act on the stores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fencepost.blobs import domain as objects
from fencepost.conversations.domain.archives import pack
from fencepost.conversations.domain.attachments import PLAIN
from fencepost.conversations.domain.messages import MessagePointer
from fencepost.conversations.dynamodb.attachments import DynamoDbAttachments
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.lifecycle.domain.bundle_check import AskedQuestion
from fencepost.lifecycle.dynamodb.carry import DynamoDbCarryStore
from fencepost.queue.domain import Job, JobState, Purpose, WorkLease
from fencepost.turns.domain.turns import fingerprint
from tests.integration.erasure_content import (
    BEFORE,
    BIG,
    DOOMED,
    LATER,
    block_of,
    doomed_claim,
    drawn_fact,
    message_of,
    settlement_of,
)
from tests.integration.erasure_interrupted import Stores
from tests.integration.erasure_world import NOON, summary_of


def a_turn(stores: Stores) -> None:
    """Claim, load, and settle an answer that is big enough for S3."""
    if stores.turns.claim(stores.scope, doomed_claim()) is None:
        material = stores.turns.load(stores.scope, DOOMED, 10)
        stores.turns.settle(stores.scope, settlement_of(material.conversation if material else stores.row))


def a_turn_that_fails(stores: Stores) -> None:
    if stores.turns.claim(stores.scope, doomed_claim()) is None:
        stores.turns.release(stores.scope, DOOMED, "h", LATER)


def a_dead_turn_that_is_parked(stores: Stores) -> None:
    if stores.turns.claim(stores.scope, doomed_claim(BIG)) is None:
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


def a_summary_of_which_a_part_remains(stores: Stores) -> None:
    summary = stores.memory.summary(stores.scope, DOOMED)
    if summary:
        stores.memory.drop_summary(stores.scope, DOOMED, replace(summary, first_seq=1, last_seq=0))


def an_approval(stores: Stores) -> None:
    carrying = DynamoDbCarryStore(stores.table, stores.world.tables.directory, lambda: stores.client)
    carrying.approve(stores.scope, DOOMED, f"summary-{DOOMED}")


def proposed_facts(stores: Stores) -> None:
    stores.memory.change_facts(stores.scope, lambda _: [drawn_fact("new", FactState.PROPOSED)], job=_job(stores))


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
        block = block_of(messages, content)
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
    a_summary_of_which_a_part_remains,
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
    job, question = _job(stores, Purpose.IMPORT), message_of("coming-q1", 1, BIG)
    incarnation = stores.imports.begin(stores.scope, "coming", job, "i")
    if incarnation is None or not stores.imports.write_messages(stores.scope, "coming", incarnation, [question]):
        return
    pointer = MessagePointer("coming-q1", "coming", 1, fingerprint(BIG))
    if stores.imports.write_questions(stores.scope, "coming", incarnation, [AskedQuestion(pointer, {})]):
        stores.imports.finish(stores.scope, replace(stores.row, id="coming", incarnation=incarnation))


def imported_facts(stores: Stores) -> None:
    stores.memory.write_facts(stores.scope, [drawn_fact("new", FactState.PINNED)], made_at=BEFORE)


def a_file_that_is_read(stores: Stores) -> None:
    attachments = DynamoDbAttachments(stores.table, lambda: stores.client)
    known = attachments.get(stores.scope, ["file"]).get("file")
    if known and attachments.advance(stores.scope, replace(known, characters=4)):
        stores.world.blobs.put(stores.scope, objects.attachment_text("file"), b"text", PLAIN)


def an_export_that_is_published(stores: Stores) -> None:
    stores.world.blobs.put(stores.scope, objects.export_bundle("export"), b"zip", "application/zip")
    stores.jobs.advance(stores.scope, "export", JobState.DONE, progress={})


WRITERS_OF_OWNERS = [*WRITERS, an_import, imported_facts, a_file_that_is_read, an_export_that_is_published]


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
