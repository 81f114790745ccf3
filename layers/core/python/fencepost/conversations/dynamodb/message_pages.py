"""Messages of a conversation in either direction, wherever they stand: in rows, in blocks, or waiting for an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, cast

from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import is_kept
from fencepost.conversations.domain.messages import Message, Rating
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.archived import ArchivedMessages
from fencepost.conversations.rows.messages import MessageRows, open_question, read_conversation
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import ClientFactory, Item
from fencepost.kernel.aws.legacy.reading import get_row, query_pages
from fencepost.kernel.paging import Page
from fencepost.kernel.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef

_LAST_SEQ = 10**12 - 1
"""The most that a message's sort key can hold."""


class MessagePages:
    """Reads pages.

    Args:
        table: name of the conversations' table.
        blobs: where big contents and archived blocks are.
        client: makes or returns the client.
        clock: tells what is too old to be read.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._client = client
        self._messages = MessageRows(blobs)
        self._archived = ArchivedMessages(table, blobs, client)

    def page(
        self, scope: Scope, conversation_id: str, after: int | None, limit: int, *, newest_first: bool
    ) -> Page[Message]:
        """See `fencepost.conversations.ports.ConversationStore.messages`."""
        item = get_row(self._client(), self._table, keys.conversation_row(scope, conversation_id))
        if item is None:
            return Page(())
        conversation, now = read_conversation(item), self._clock()
        while True:
            found = self._run(scope, item, after, limit + 1, newest_first=newest_first)
            kept = [message for message in found[:limit] if is_kept(conversation, message, now)]
            if len(found) <= limit:
                return Page(tuple(kept))
            if kept:
                return Page(tuple(kept), str(found[limit - 1].seq))
            # A whole page of what is too old, and not removed yet, is no reason to stop.
            after = found[limit - 1].seq

    def _run(self, scope: Scope, item: Item, after: int | None, limit: int, *, newest_first: bool) -> list[Message]:
        """Return up to `limit` messages.

        The conversation's row was read first and blocks are read last: what moves on meanwhile, from one place to the
        next, is found twice and never missed.
        """
        conversation, waiting = read_conversation(item), open_question(item)
        low, high = _bounds(conversation.kept_from, after, newest_first=newest_first)
        found = {waiting.seq: waiting} if waiting and low <= waiting.seq <= high else {}
        rows = self._rows(scope, conversation.id, low, high, limit, newest_first=newest_first)
        found |= {message.seq: message for message in rows}
        last = min(high, conversation.next_seq - 1)
        if not found.keys() >= set(_expected(low, last, limit, newest_first=newest_first)):
            moved = self._archived.read(scope, conversation, after=after, limit=limit, newest_first=newest_first)
            found = {message.seq: message for message in self._rated(scope, conversation.id, moved)} | found
        return [found[seq] for seq in sorted(found, reverse=newest_first)][:limit]

    def _rows(
        self, scope: Scope, conversation_id: str, low: int, high: int, limit: int, *, newest_first: bool
    ) -> list[Message]:
        if low > high:
            return []
        partition = keys.conversation(scope, conversation_id)
        request = _between(
            self._table, partition, conversations_keys.message_sort(low), conversations_keys.message_sort(high)
        )
        items = self._items({**request, "ScanIndexForward": not newest_first, "Limit": limit})
        return [self._messages.message(scope, item) for item in islice(items, limit)]

    def _rated(self, scope: Scope, conversation_id: str, moved: Sequence[Message]) -> Iterator[Message]:
        """Give archived answers the ratings that came after they had moved."""
        if not moved:
            return
        first, last = sorted((moved[0].seq, moved[-1].seq))
        partition = keys.conversation(scope, conversation_id)
        request = _between(
            self._table, partition, conversations_keys.rating_sort(first), conversations_keys.rating_sort(last)
        )
        rows = {item["sk"]["S"]: item for item in self._items(request)}
        for message in moved:
            row = rows.get(conversations_keys.rating_sort(message.seq))
            yield message if row is None else replace(message, rating=_rating(row))

    def _items(self, request: QueryInputTypeDef) -> Iterator[Item]:
        for page in query_pages(self._client(), request):
            yield from page["Items"]


def _bounds(kept_from: int, after: int | None, *, newest_first: bool) -> tuple[int, int]:
    """Return the lowest and the highest number that may stand in the page."""
    if newest_first:
        return kept_from, _LAST_SEQ if after is None else after - 1
    return max(kept_from, (after or 0) + 1), _LAST_SEQ


def _rating(row: Item) -> Rating | None:
    return cast("Rating", row["rating"]["S"]) if "rating" in row else None


def _between(table: str, partition: str, low: str, high: str) -> QueryInputTypeDef:
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :pk AND sk BETWEEN :low AND :high",
        "ExpressionAttributeValues": {":pk": {"S": partition}, ":low": {"S": low}, ":high": {"S": high}},
    }


def _expected(low: int, last: int, limit: int, *, newest_first: bool) -> range:
    """Return the numbers that a full page holds. They are given without gaps: what is no row of these has moved."""
    if newest_first:
        return range(max(low, last - limit + 1), last + 1)
    return range(low, min(last, low + limit - 1) + 1)
