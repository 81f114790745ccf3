"""Reminded of what they said themselves: across their conversations, and across nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fencepost.blobs.domain import block
from fencepost.blobs.s3 import S3BlobStore
from fencepost.conversations.domain.archives import describe, pack
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from tests.integration.isolation.memories import asked, remembered, rows_of
from tests.integration.isolation.town import Somebody, Town


@pytest.fixture
def user(town: Town) -> str:
    return town.user()


def told(town: Town, somebody: Somebody) -> tuple[str, str]:
    """Have somebody tell their word in a conversation, and return its id and the word."""
    before = set(town.owners)
    conversation_id = somebody.begin()
    remembered(town, conversation_id)
    (word,) = set(town.owners) - before
    return conversation_id, word


@pytest.mark.parametrize("who", [Town.visitor, lambda town, org: town.member(town.user(), org)])
def test_what_was_said_in_one_conversation_is_known_in_the_next(
    town: Town, who: Callable[[Town, str], Somebody]
) -> None:
    somebody = who(town, town.acme)
    _, word = told(town, somebody)
    reminded = asked(town, somebody)
    (source,) = [source for source, said in reminded.memories.items() if word in said]
    answer = reminded.answer
    view = somebody.client.get(f"/v1/messages/{answer['messageId']}/context")
    layers = {layer["layer"]: layer["sources"] for layer in view["layers"]}
    assert set(layers["memory"]) == set(reminded.memories)
    # The stand-in quotes it, and the marker that it writes has become a source.
    assert word in answer["response"]
    assert source in {one["id"] for one in answer["sources"]}


def test_nobody_else_is_reminded_of_it(town: Town, user: str) -> None:
    member, visitor = town.member(user, town.acme), town.visitor(town.acme)
    others = [
        town.visitor(town.acme),
        town.visitor(town.zeta),
        town.member(town.user(), town.acme),
        town.member(user, town.zeta),
    ]
    words = {told(town, one)[1] for one in (member, visitor)}
    for other in others:
        told(town, other)
    for other in others:
        reminded = asked(town, other)
        assert town.owners_in(reminded.text) == {other.name}
        assert not [word for word in words if word in reminded.text]


def test_what_is_erased_is_never_remembered_again(town: Town, user: str) -> None:
    member = town.member(user, town.acme)
    # What the one conversation was reminded of stands in its answer: it is the later one that goes.
    _, kept = told(town, member)
    conversation_id, word = told(town, member)
    assert member.client.delete(f"/v1/conversations/{conversation_id}")["verified"] is True
    reminded = asked(town, member)
    assert kept in reminded.text
    assert word not in reminded.text


def test_a_conversations_own_messages_are_not_repeated(town: Town, user: str) -> None:
    member = town.member(user, town.acme)
    conversation_id, word = told(town, member)
    reminded = asked(town, member, conversation_id)
    assert word not in reminded.text


def test_an_archived_message_is_still_remembered(town: Town, user: str) -> None:
    member = town.member(user, town.acme)
    conversation_id, word = told(town, member)
    archive(town, user, conversation_id)
    assert not [row for row in rows_of(town, conversation_id) if row["sk"]["S"].startswith("m#")]
    assert word in asked(town, member).text


def archive(town: Town, user: str, conversation_id: str) -> None:
    """Move all messages of a member's conversation into a block, as the job does with far more of them."""
    scope, dynamodb, s3 = town.scope(user, town.acme), town.stack.client("dynamodb"), town.stack.client("s3")
    blobs = S3BlobStore(town.stack.physical("ContentBucket"), lambda: s3)
    store = DynamoDbArchive(town.stack.physical("ConversationsTable"), blobs, lambda: dynamodb)
    conversation = store.conversation(scope, conversation_id)
    messages = store.rows(scope, conversation_id, after=0, limit=9)
    assert conversation
    content = pack(messages)
    name = block(conversation_id, 1, content)
    blobs.put(scope, name, content, "application/gzip")
    assert store.move(scope, conversation, describe(name, content, messages), messages)
