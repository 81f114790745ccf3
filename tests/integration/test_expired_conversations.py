"""What the archive's job makes of a conversation whose rows have ended, and what it moved before."""

from __future__ import annotations

import pytest

from fencepost.blobs.domain import BIG_BYTES
from fencepost.conversations.domain.archives import BLOCK_MESSAGES, describe, pack
from fencepost.conversations.domain.attachments import PLAIN, Attachment, AttachmentState
from fencepost.conversations.domain.messages import MessageStatus
from fencepost.conversations.dynamodb.attachments import DynamoDbAttachments
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Usage
from fencepost.model.ports import Completion
from fencepost.observability.service import Trace
from fencepost.queue.domain import Purpose
from local.emulator import Emulator
from tests.integration.retention_town import DAY, Town, dying
from tests.integration.turn_stores import stored_turns
from tests.worlds.turn import ANN, Killed


@pytest.fixture
def town(emulator: Emulator) -> Town:
    return Town(stored_turns(emulator.endpoint_url))


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


def test_files_go_with_the_last_conversation_that_used_them(town: Town) -> None:
    over = town.world.say().conversation_id
    town.world.clock.advance(31 * DAY.total_seconds())
    living = town.world.say(message_id="m2").conversation_id
    upload(town, "own", over)
    upload(town, "shared", over, living)
    upload(town, "unused")
    for job in [one for one in town.expire() if one.conversation == over] * 2:
        town.work(job)
    names = sorted(name for name in town.left(over) if "own" in name or "shared" in name or "unused" in name)
    assert names == ["file#shared", "file#unused", "files/shared/text", "files/unused/text"]


def upload(town: Town, file_id: str, *used_by: str) -> None:
    """Store a file that is attached in these conversations."""
    ready = AttachmentState.READY
    file = Attachment(id=file_id, name="a.txt", content_type=PLAIN, size=4, state=ready, created_at=town.world.clock())
    DynamoDbAttachments(town.tables.conversations, lambda: town.tables.client).put(town.scope, file)
    town.stored.blobs.put(town.scope, f"files/{file_id}/text", b"text", PLAIN)
    if used_by:
        town.tables.client.update_item(
            TableName=town.tables.conversations,
            Key=conversations_keys.file_row(town.scope, file_id),
            UpdateExpression="ADD used_by :users",
            ExpressionAttributeValues={":users": {"SS": used_by}},
        )


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
