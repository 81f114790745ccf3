"""Conversations, outside of turns: their rows, their messages, and what their owner thinks of answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import batched
from typing import TYPE_CHECKING, override

from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import is_expired
from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer, Rating
from fencepost.conversations.domain.messages import answer_id as id_of
from fencepost.conversations.dynamodb.message_pages import MessagePages
from fencepost.conversations.ports import ConversationStore
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.messages import AnswerEntry, read_answers, read_conversation
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import ClientFactory, Item, Refused, dynamodb_client, update
from fencepost.kernel.aws.legacy.reading import READ_AT_ONCE, batch_rows, get_row, is_past, query_pages, utc_now
from fencepost.kernel.aws.legacy.rows import from_item, timestamp
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.paging import Page
from fencepost.kernel.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        ConditionCheckTypeDef,
        QueryInputTypeDef,
        TransactWriteItemTypeDef,
        UpdateItemInputTypeDef,
        UpdateTypeDef,
    )


class DynamoDbConversations(ConversationStore):
    """Nothing is scanned: every read names its owner's partition.

    Args:
        table: its name.
        blobs: where big contents and archived blocks are.
        client: makes or returns the client, at the first use.
        clock: tells what is too old to be read.
    """

    def __init__(
        self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client, clock: Clock = utc_now
    ) -> None:
        self._table = table
        self._client = client
        self._clock = clock
        self._listing = ConversationListing(table, client, clock)
        self._pages = MessagePages(table, blobs, client, clock)

    @override
    def get(self, scope: Scope, conversation_id: str) -> Conversation | None:
        item = self._row(keys.conversation_row(scope, conversation_id))
        conversation = read_conversation(item) if item else None
        return None if conversation and is_expired(conversation, self._clock()) else conversation

    @override
    def newest(self, scope: Scope, *, after: str | None, limit: int, title_contains: str = "") -> Page[Conversation]:
        return self._listing.page(scope, after, limit, title_contains)

    @override
    def rename(self, scope: Scope, conversation_id: str, title: str, now: datetime) -> Conversation | None:
        request: UpdateItemInputTypeDef = {
            "TableName": self._table,
            "Key": keys.conversation_row(scope, conversation_id),
            "UpdateExpression": "SET title = :title, updated_at = :now",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeValues": {":title": {"S": title}, ":now": {"S": timestamp(now)}},
            "ReturnValues": "ALL_NEW",
        }
        written = update(self._client(), request, ErrorCode.CONVERSATIONS_UNAVAILABLE)
        return None if isinstance(written, Refused) else read_conversation(written)

    @override
    def messages(
        self, scope: Scope, conversation_id: str, *, after: int | None, limit: int, newest_first: bool
    ) -> Page[Message]:
        return self._pages.page(scope, conversation_id, after, limit, newest_first=newest_first)

    @override
    def pointer(self, scope: Scope, message_id: str) -> MessagePointer | None:
        item = self._row(conversations_keys.pointer_row(scope, _question_of(message_id)))
        return from_item(MessagePointer, item) if item and not is_past(item, self._clock()) else None

    @override
    def rate(self, scope: Scope, pointer: MessagePointer, answer_id: str | None, rating: Rating | None) -> bool:
        entry = self._answer(scope, pointer, answer_id)
        if entry is None:
            return False
        row = _rated(self._table, conversations_keys.message_row(scope, pointer.conversation_id, entry.seq), rating)
        row["ConditionExpression"] = "attribute_exists(pk)"
        if transact_with_retry(self._client(), {"row": {"Update": row}}) is None:
            return True
        return self._rate_archived(scope, pointer.conversation_id, entry.seq, rating)

    @override
    def context(self, scope: Scope, pointer: MessagePointer, answer_id: str | None) -> AnswerContext | None:
        entry = self._answer(scope, pointer, answer_id)
        return entry.context if entry else None

    @override
    def contexts(self, scope: Scope, question_ids: Sequence[str]) -> Iterator[AnswerContext]:
        for some in batched(question_ids, READ_AT_ONCE, strict=False):
            wanted = [conversations_keys.pointer_row(scope, question_id) for question_id in some]
            rows = {row["message_id"]["S"]: row for row in batch_rows(self._client(), self._table, wanted)}
            kept = (rows[one] for one in some if one in rows and not is_past(rows[one], self._clock()))
            entries = (entry for row in kept for entry in read_answers(row).values())
            yield from (entry.context for entry in entries if entry.context)

    def _answer(self, scope: Scope, pointer: MessagePointer, answer_id: str | None) -> AnswerEntry | None:
        item = self._row(conversations_keys.pointer_row(scope, pointer.message_id))
        answers = read_answers(item) if item else {}
        if answer_id is None:
            return answers[max(answers)] if answers else None
        return {id_of(pointer.message_id, revision): entry for revision, entry in answers.items()}.get(answer_id)

    def _rate_archived(self, scope: Scope, conversation_id: str, seq: int, rating: Rating | None) -> bool:
        """Store a rating as a row of its own: a block is never changed. An erased conversation gets none any more."""
        there: ConditionCheckTypeDef = {
            "TableName": self._table,
            "Key": keys.conversation_row(scope, conversation_id),
            "ConditionExpression": "attribute_exists(pk)",
        }
        rated = _rated(self._table, conversations_keys.rating_row(scope, conversation_id, seq), rating)
        writes: dict[str, TransactWriteItemTypeDef] = {
            "conversation": {"ConditionCheck": there},
            "rating": {"Update": rated},
        }
        return transact_with_retry(self._client(), writes) is None

    def _row(self, key: aws_keys.Key) -> Item | None:
        return get_row(self._client(), self._table, key)


def _rated(table: str, key: aws_keys.Key, rating: Rating | None) -> UpdateTypeDef:
    if rating is None:
        return {"TableName": table, "Key": key, "UpdateExpression": "REMOVE rating"}
    return {
        "TableName": table,
        "Key": key,
        "UpdateExpression": "SET rating = :rating",
        "ExpressionAttributeValues": {":rating": {"S": rating}},
    }


def _question_of(message_id: str) -> str:
    """Return the question's id: an answer's is `<question's id>.<revision>`, and no question's id holds a dot."""
    return message_id.partition(".")[0]


_INDEX = "by_update"
LOOKED_AT = 1_000
"""Rows that one page of a search reads at most. The page may then be short, and says where to go on."""
_NAMES = {f"#{place}": name for place, name in enumerate(["sk", *(field.name for field in fields(Conversation))])}


class ConversationListing:
    """Pages through the index. A title is searched in what was read: no second copy of it has to be kept in step.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client.
        clock: tells what is too old to be read.
    """

    def __init__(self, table: str, client: ClientFactory, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._client = client

    def page(self, scope: Scope, after: str | None, limit: int, title: str) -> Page[Conversation]:
        """See `fencepost.conversations.ports.ConversationStore.newest`."""
        wanted, found, last, now = title.casefold(), list[Conversation](), None, self._clock()
        for seen, item in enumerate(self._items(scope, after, limit)):
            if len(found) == limit or seen == LOOKED_AT:
                return Page(tuple(found), last)
            conversation = read_conversation(item)
            last = _position(item)
            if wanted in conversation.title.casefold() and not is_expired(conversation, now):
                found.append(conversation)
        return Page(tuple(found))

    def _items(self, scope: Scope, after: str | None, limit: int) -> Iterator[Item]:
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "IndexName": _INDEX,
            "KeyConditionExpression": "pk = :pk",
            # Jobs have a time of their last change as well.
            "FilterExpression": "attribute_exists(incarnation)",
            "ProjectionExpression": ", ".join(_NAMES),
            "ExpressionAttributeNames": _NAMES,
            "ExpressionAttributeValues": {":pk": {"S": keys.owner(scope)}},
            "ScanIndexForward": False,
            "Limit": limit + 1,
        }
        if after is not None:
            updated_at, _, conversation_id = after.partition("|")
            request["ExclusiveStartKey"] = {
                **keys.conversation_row(scope, conversation_id),
                "updated_at": {"S": updated_at},
            }
        for page in query_pages(self._client(), request):
            yield from page["Items"]


def _position(item: Item) -> str:
    return f"{item['updated_at']['S']}|{item['id']['S']}"
