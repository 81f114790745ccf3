"""The store of conversations outside turns: lists, reading, renaming, ratings and contexts of answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from itertools import batched
from typing import Final, override

from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import is_expired
from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer, Rating
from fencepost.conversations.domain.messages import answer_id as id_of
from fencepost.conversations.dynamodb.message_pages import MessagePages
from fencepost.conversations.ports import ConversationStore
from fencepost.conversations.rows.messages import (
    AnswerEntry,
    is_past,
    message_row,
    pointer_row,
    rating_row,
    read_answers,
    read_conversation,
)
from fencepost.conversations.rows.models import ConversationRow, MessageRow, RatingRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.batches import READ_AT_ONCE
from fencepost.kernel.aws.rows import Item, Key, from_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Refused, Table
from fencepost.kernel.paging import Page
from fencepost.kernel.ports import Clock

_INDEX: Final = "by_update"
_LISTED = tuple(
    ConversationRow.get_attributes()[name] for name in ("sk", *(field.name for field in fields(Conversation)))
)
LOOKED_AT = 1_000
"""Rows that one page of a title search reads at most. A shorter page then says where to go on."""


class DynamoDbConversations(ConversationStore):
    """Stores conversations in DynamoDB. Every read names its owner's partition; there is no scan.

    Args:
        table: name of the conversations' table.
        blobs: the store of big contents and archived blocks.
        client: makes or returns the client, at the first use.
        clock: decides which rows are past their site's retention.
    """

    def __init__(
        self,
        table: str,
        blobs: BlobStore,
        client: ClientFactory = dynamodb_client,
        clock: Clock = lambda: datetime.now(UTC),
    ) -> None:
        self._table = Table(table, client)
        self._clock = clock
        self._pages = MessagePages(table, blobs, client, clock)

    @override
    def get(self, scope: Scope, conversation_id: str) -> Conversation | None:
        item = self._table.get(keys.conversation_row(scope, conversation_id))
        conversation = read_conversation(item) if item else None
        return None if conversation and is_expired(conversation, self._clock()) else conversation

    @override
    def newest(self, scope: Scope, *, after: str | None, limit: int, title_contains: str = "") -> Page[Conversation]:
        """Titles are searched in the rows that were read, so no second copy of a title has to be kept in step."""
        wanted, found, last, now = title_contains.casefold(), list[Conversation](), None, self._clock()
        for seen, item in enumerate(self._listed(scope, after, limit)):
            if len(found) == limit or seen == LOOKED_AT:
                return Page(tuple(found), last)
            conversation = read_conversation(item)
            last = f"{item['updated_at']['S']}|{conversation.id}"
            if wanted in conversation.title.casefold() and not is_expired(conversation, now):
                found.append(conversation)
        return Page(tuple(found))

    @override
    def rename(self, scope: Scope, conversation_id: str, title: str, now: datetime) -> Conversation | None:
        written = self._table.update(
            keys.conversation_row(scope, conversation_id),
            ConversationRow.title.set(title),
            ConversationRow.updated_at.set(now),
            condition=ConversationRow.pk.exists(),
            whole=True,
        )
        return None if isinstance(written, Refused) else read_conversation(written)

    @override
    def messages(
        self, scope: Scope, conversation_id: str, *, after: int | None, limit: int, newest_first: bool
    ) -> Page[Message]:
        return self._pages.page(scope, conversation_id, after, limit, newest_first=newest_first)

    @override
    def pointer(self, scope: Scope, message_id: str) -> MessagePointer | None:
        # An answer's id is `<question's id>.<revision>`, and no question's id holds a dot.
        question_id = message_id.partition(".")[0]
        item = self._table.get(pointer_row(scope, question_id))
        return from_item(MessagePointer, item) if item and not is_past(item, self._clock()) else None

    @override
    def rate(self, scope: Scope, pointer: MessagePointer, answer_id: str | None, rating: Rating | None) -> bool:
        entry = self._answer(scope, pointer, answer_id)
        if entry is None:
            return False
        row = message_row(scope, pointer.conversation_id, entry.seq)
        change = MessageRow.rating.set(rating) if rating else MessageRow.rating.remove()
        update = self._table.update_write(row, change, condition=MessageRow.pk.exists())
        if self._table.transact_with_retry({"row": update}) is None:
            return True
        return self._rate_archived(scope, pointer.conversation_id, entry.seq, rating)

    @override
    def context(self, scope: Scope, pointer: MessagePointer, answer_id: str | None) -> AnswerContext | None:
        entry = self._answer(scope, pointer, answer_id)
        return entry.context if entry else None

    @override
    def contexts(self, scope: Scope, question_ids: Sequence[str]) -> Iterator[AnswerContext]:
        for some in batched(question_ids, READ_AT_ONCE, strict=False):
            items = self._table.batch_get(pointer_row(scope, question_id) for question_id in some)
            rows = {item["message_id"]["S"]: item for item in items}
            kept = (rows[one] for one in some if one in rows and not is_past(rows[one], self._clock()))
            entries = (entry for row in kept for entry in read_answers(row).values())
            yield from (entry.context for entry in entries if entry.context)

    def _listed(self, scope: Scope, after: str | None, limit: int) -> Iterator[Item]:
        """Yield the rows of conversations after a position, last changed first, `limit` + 1 in one request."""
        here = ConversationRow.pk == keys.owner(scope)
        start: Key | None = None
        if after is not None:
            updated_at, _, conversation_id = after.partition("|")
            start = {**keys.conversation_row(scope, conversation_id), "updated_at": {"S": updated_at}}
        while True:
            page = self._table.query_page(
                here,
                *_LISTED,
                # The index also holds jobs.
                filtered=ConversationRow.incarnation.exists(),
                index=_INDEX,
                descending=True,
                limit=limit + 1,
                start=start,
            )
            yield from page.items
            start = page.next_key
            if start is None:
                return

    def _answer(self, scope: Scope, pointer: MessagePointer, answer_id: str | None) -> AnswerEntry | None:
        item = self._table.get(pointer_row(scope, pointer.message_id))
        answers = read_answers(item) if item else {}
        if answer_id is None:
            return answers[max(answers)] if answers else None
        return {id_of(pointer.message_id, revision): entry for revision, entry in answers.items()}.get(answer_id)

    def _rate_archived(self, scope: Scope, conversation_id: str, seq: int, rating: Rating | None) -> bool:
        """Store the rating in a `RatingRow`, because blocks are never changed; False where the conversation is gone."""
        change = RatingRow.rating.set(rating) if rating else RatingRow.rating.remove()
        writes = {
            "conversation": self._table.check_write(
                keys.conversation_row(scope, conversation_id), ConversationRow.pk.exists()
            ),
            "rating": self._table.update_write(rating_row(scope, conversation_id, seq), change),
        }
        return self._table.transact_with_retry(writes) is None
