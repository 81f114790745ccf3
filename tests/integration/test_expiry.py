"""What a site keeps for some days: its rows end by themselves, nobody reads them late, and the rest follows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.archive import DynamoDbArchive
from fencepost.adapters.dynamodb.client import Item
from fencepost.adapters.dynamodb.memory import DynamoDbMemoryStore
from fencepost.adapters.dynamodb.outbox import jobs_of
from fencepost.domain.archives import BLOCK_MESSAGES, describe, pack
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Operator, Resource, authorize
from fencepost.domain.jobs import Job, JobState, Purpose
from fencepost.domain.messages import MessageStatus
from fencepost.domain.money import Usage
from fencepost.domain.objects import BIG_BYTES
from fencepost.domain.sites import Retention
from fencepost.ports import Completion
from fencepost.services.archive import ArchiveService
from fencepost.services.conversations import ConversationService
from fencepost.services.jobs import action_of
from fencepost.services.retention import RetentionService
from fencepost.services.sites import SiteService
from fencepost.services.trace import Trace
from local.emulator import Emulator
from tests.chat_world import NOON
from tests.integration.storage_stores import ALICE, Stores, exported, open_stores, talk
from tests.integration.turn_stores import StoredTurns, stored_turns
from tests.turn_world import ANN, DEFAULTS, Killed, Process

DAYS = 30
DAY = timedelta(days=1)
TTL = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
"""Who removes rows whose time is over, as the stream's records name it."""


@dataclass
class Town:
    """One visitor of a site that keeps messages for so many days, and the archive's job."""

    stored: StoredTurns

    def __post_init__(self) -> None:
        self.keep(DAYS)
        self.world, self.tables = self.stored.world, self.stored.tables
        self.scope = self.world.scope()

    def keep(self, days: int) -> None:
        self.stored.world.directory.add_site(retention=Retention(days=days))

    @property
    def archive(self) -> DynamoDbArchive:
        return DynamoDbArchive(self.tables.conversations, self.stored.blobs, lambda: self.tables.client)

    @property
    def service(self) -> ConversationService:
        return ConversationService(self.world.conversations, self.world.clock)

    def work(self, job: Job) -> None:
        """Do the job as the worker does: with the scope of its actor."""
        assert job.actor == "operator"
        scope = authorize(Operator(job.org), action_of(job.purpose), Resource(job.org, job.owner))
        memory = DynamoDbMemoryStore(self.tables.conversations, lambda: self.tables.client)
        ArchiveService(
            archive=self.archive,
            blobs=self.stored.blobs,
            sites=SiteService(self.world.directory, DEFAULTS),
            retention=RetentionService(self.archive, memory, self.stored.blobs),
            clock=self.world.clock,
        ).run(scope, job)

    def row(self, key: keys.Key) -> Item:
        return self.tables.client.get_item(TableName=self.tables.conversations, Key=key)["Item"]

    def pointer(self, message_id: str = "m1") -> Item:
        return self.row(keys.pointer_row(self.scope, message_id))

    def ends(self, conversation: str) -> list[float]:
        """Return when the rows of messages end, in days from noon."""
        partition = self.tables.rows(keys.conversation(self.scope, conversation))
        return [days_of(row) for row in partition if row["sk"]["S"].startswith("m#")]

    def expire(self) -> list[Job]:
        """Remove what is past its time, as DynamoDB's TTL does, and return what the relay makes of it."""
        jobs, now = list[Job](), self.world.clock().timestamp()
        owner = self.tables.rows(keys.owner(self.scope))
        ids = [row["id"]["S"] for row in owner if row["sk"]["S"].startswith("conv#")]
        talks = [row for one in ids for row in self.tables.rows(keys.conversation(self.scope, one))]
        for row in [*owner, *talks]:
            if "expires_at" in row and float(row["expires_at"]["N"]) < now:
                key = keys.key(row["pk"]["S"], row["sk"]["S"])
                self.tables.client.delete_item(TableName=self.tables.conversations, Key=key)
                change = {"Keys": key, "OldImage": row}
                jobs += jobs_of({"eventName": "REMOVE", "userIdentity": TTL, "dynamodb": change})
        return jobs

    def left(self, conversation: str) -> list[str]:
        """Return the sort keys of all rows, and the names of all objects."""
        rows = self.tables.rows(keys.owner(self.scope)) + self.tables.rows(keys.conversation(self.scope, conversation))
        return [row["sk"]["S"] for row in rows] + list(self.stored.blobs.names(self.scope, ""))


@pytest.fixture
def town(emulator: Emulator) -> Town:
    return Town(stored_turns(emulator.endpoint_url))


@pytest.fixture
def stores(emulator: Emulator) -> Stores:
    return open_stores(emulator)


def days_of(row: Item, since: datetime = NOON) -> float:
    return (float(row["expires_at"]["N"]) - since.timestamp()) / DAY.total_seconds()


def dying() -> Process:
    """Return a process that dies with its question stored."""
    return Process(("turns.load", "before"))


def missing(call: Callable[[], object]) -> bool:
    with pytest.raises(FencepostError) as caught:
        call()
    return caught.value.code is ErrorCode.NOT_FOUND


def test_a_turns_rows_end_with_the_days_of_its_site(town: Town) -> None:
    first = town.world.say()
    town.world.clock.advance(2 * DAY.total_seconds())
    town.world.say(message_id="m2", conversation_id=first.conversation_id)
    assert town.ends(first.conversation_id) == [DAYS, DAYS, DAYS + 2, DAYS + 2]
    assert [days_of(town.pointer(one)) for one in ("m1", "m2")] == [DAYS, DAYS + 2]


def test_without_a_number_of_days_nothing_ends(town: Town) -> None:
    town.keep(0)
    first = town.world.say()
    town.world.clock.advance(10_000 * DAY.total_seconds())
    assert town.expire() == []
    assert "expires_at" not in town.pointer()
    assert len(town.world.messages(first.conversation_id)) == 2


def test_a_pointer_lasts_as_long_as_the_newest_answer(town: Town) -> None:
    town.world.say()
    town.world.clock.advance(DAY.total_seconds())
    town.world.service().regenerate(ANN, "m1", Trace())
    assert days_of(town.pointer()) == DAYS + 1
    town.keep(0)
    town.world.service().regenerate(ANN, "m1", Trace())
    assert "expires_at" not in town.pointer()


def test_a_question_that_was_put_aside_ends_as_well(town: Town) -> None:
    first = town.world.say()
    with pytest.raises(Killed):
        town.world.say(
            message_id="m2", conversation_id=first.conversation_id, process=Process(("turns.load", "before"))
        )
    town.world.clock.advance(DAY.total_seconds())
    town.world.say(message_id="m3", conversation_id=first.conversation_id)
    assert town.ends(first.conversation_id) == [DAYS, DAYS, DAYS, DAYS + 1, DAYS + 1]
    assert days_of(town.pointer("m2")) == DAYS


def test_what_is_too_old_is_seen_nowhere_before_it_is_removed(town: Town) -> None:
    first = town.world.say("The first one?")
    town.world.clock.advance(20 * DAY.total_seconds())
    town.world.say("The second one?", "m2", first.conversation_id)
    town.world.clock.advance(15 * DAY.total_seconds())
    assert [one.id for one in town.world.messages(first.conversation_id)] == ["m2", "m2.1"]
    assert missing(lambda: town.service.context(town.scope, "m1"))
    assert missing(lambda: town.service.rate(town.scope, "m1.1", "up"))
    assert missing(lambda: town.world.service().regenerate(ANN, "m1", Trace()))
    assert missing(lambda: town.world.say("The first one?", "m1", first.conversation_id))
    town.world.say("The third one?", "m3", first.conversation_id)
    prompt = str(town.world.model.prompts[-1])
    assert "The second one?" in prompt
    assert "The first one?" not in prompt


def test_a_conversation_that_is_too_old_is_none(town: Town) -> None:
    first = town.world.say()
    town.world.clock.advance(31 * DAY.total_seconds())
    conversation_id = first.conversation_id
    assert missing(lambda: town.service.get(town.scope, conversation_id))
    assert missing(lambda: town.service.rename(town.scope, conversation_id, "Another"))
    assert town.service.newest(town.scope, after=None, limit=10).items == ()
    assert missing(lambda: town.world.say(message_id="m2", conversation_id=conversation_id))
    assert len(town.world.model.prompts) == 1


def test_pages_go_on_over_what_is_too_old(town: Town) -> None:
    conversation = town.world.say(message_id="m0").conversation_id
    for number in range(1, 4):
        town.world.say(message_id=f"m{number}", conversation_id=conversation)
    town.world.clock.advance(20 * DAY.total_seconds())
    town.world.say(message_id="m4", conversation_id=conversation)
    town.world.clock.advance(15 * DAY.total_seconds())
    page = town.world.conversations.messages(town.scope, conversation, after=None, limit=2, newest_first=False)
    assert [one.id for one in page.items] == ["m4", "m4.1"]


@pytest.mark.parametrize("fate", ["answered", "left pending"])
def test_an_idle_conversation_goes_wholly(town: Town, fate: str) -> None:
    if fate == "answered":
        town.world.model.reply = lambda: Completion("x" * (BIG_BYTES + 1), Usage(100, 0, 0, 10), 0.1)
        conversation_id = town.world.say().conversation_id
    else:
        with pytest.raises(Killed):
            town.world.say(process=dying())
        conversation_id = town.service.newest(town.scope, after=None, limit=1).items[0].id
    town.world.clock.advance(31 * DAY.total_seconds())
    jobs = town.expire()
    assert [(job.purpose, job.conversation) for job in jobs] == [(Purpose.ARCHIVE, conversation_id)]
    for job in jobs * 2:
        town.work(job)
    assert town.left(conversation_id) == []


def test_blocks_and_ratings_follow_what_pointed_into_them(town: Town) -> None:
    conversation_id = town.world.say(message_id="m0").conversation_id
    for number in range(1, BLOCK_MESSAGES // 2):
        town.world.say(message_id=f"m{number}", conversation_id=conversation_id)
    move(town, conversation_id)
    town.service.rate(town.scope, "m3", "down")
    assert town.world.messages(conversation_id)[7].rating == "down"
    assert town.world.say(message_id="m3", conversation_id=conversation_id).answer.seq == 8
    town.world.clock.advance(31 * DAY.total_seconds())
    for job in town.expire():
        town.work(job)
    assert town.left(conversation_id) == []


def move(town: Town, conversation_id: str) -> None:
    """Put all messages into one block."""
    row = town.archive.conversation(town.scope, conversation_id)
    assert row is not None
    rows = town.archive.rows(town.scope, conversation_id, after=0, limit=BLOCK_MESSAGES)
    content = pack(rows)
    block = describe(f"conv/{conversation_id}/block/000000000001-x.jsonl.gz", content, rows)
    town.stored.blobs.put(town.scope, block.object, content, "application/gzip")
    assert town.archive.move(town.scope, row, block, rows)


def test_archived_answers_are_answers_like_any_other(town: Town) -> None:
    conversation_id = town.world.say(message_id="m0").conversation_id
    for number in range(1, BLOCK_MESSAGES // 2):
        town.world.say(message_id=f"m{number}", conversation_id=conversation_id)
    calls = len(town.world.model.prompts)
    move(town, conversation_id)
    again = town.world.say(message_id="m0", conversation_id=conversation_id)
    assert (again.answer.id, again.answer.status) == ("m0.1", MessageStatus.COMPLETE)
    town.service.rate(town.scope, "m0.1", "up")
    assert town.service.context(town.scope, "m0").answer_id == "m0.1"
    assert town.world.messages(conversation_id)[1].rating == "up"
    town.service.rate(town.scope, "m0.1", None)
    assert town.world.messages(conversation_id)[1].rating is None
    with pytest.raises(FencepostError) as caught:
        town.world.service().regenerate(ANN, "m0", Trace())
    assert caught.value.code is ErrorCode.REGENERATE_NOT_LAST
    assert len(town.world.model.prompts) == calls
    town.world.say(message_id="m99", conversation_id=conversation_id)
    assert len(town.world.messages(conversation_id)) == BLOCK_MESSAGES + 2


def test_a_turn_that_comes_meanwhile_keeps_its_conversation(town: Town) -> None:
    conversation_id = town.world.say().conversation_id
    town.world.clock.advance(31 * DAY.total_seconds())
    (job,) = town.expire()
    stale = town.archive.conversation(town.scope, conversation_id)
    assert stale is not None
    town.keep(0)
    town.world.say(message_id="m2", conversation_id=conversation_id)
    assert not town.archive.end(town.scope, stale)
    town.work(job)
    assert [one.id for one in town.world.messages(conversation_id)] == ["m2", "m2.1"]


def test_what_is_imported_ends_as_what_was_said_here(stores: Stores) -> None:
    stores.write(ALICE, talk(3, every=DAY))
    bundle = exported(stores)
    began = stores.clock()
    forget(stores, began + timedelta(seconds=1))
    stores.clock.advance(4 * DAY.total_seconds())
    importing = stores.importing(days=DAYS)
    importing.run(ALICE, importing.take(ALICE, "docs", bundle).job)
    rows = stores.tables.rows(keys.conversation(ALICE, "c1")) + stores.tables.rows(keys.owner(ALICE))
    ends = {row["sk"]["S"]: days_of(row, began) for row in rows if row["sk"]["S"].startswith(("m#", "msg#"))}
    assert list(ends.values()) == [30, 30, 31, 31, 32, 32, 30, 31, 32]
    assert exported(stores) == bundle
    stores.clock.advance(27 * DAY.total_seconds())
    assert [one.seq for one in stores.said(ALICE)] == [3, 4, 5, 6]


def forget(stores: Stores, at: datetime) -> None:
    """Erase everything of the owner."""
    stores.eraser.forget_owner(ALICE, at)
    while stores.eraser.sweep(ALICE, None, 10_000):
        pass


def test_a_finished_export_is_there_for_a_week(stores: Stores) -> None:
    stores.write(ALICE, talk(1))
    service = stores.exporting()
    record = service.ask(ALICE, "docs")
    service.run(ALICE, record.job)
    made = stores.jobs.job(ALICE, record.id)
    assert made is not None
    assert made.state is JobState.DONE
    stores.clock.now = made.updated_at + timedelta(days=7) - timedelta(seconds=1)
    assert service.state(ALICE, record.id).link
    stores.clock.advance(1)
    assert missing(lambda: service.state(ALICE, record.id))
