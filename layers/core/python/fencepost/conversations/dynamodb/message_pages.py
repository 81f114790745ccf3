"""Pages of a conversation's messages in either direction, read from rows, archive blocks and the open turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import is_kept
from fencepost.conversations.domain.messages import Message, Rating
from fencepost.conversations.rows.archived import ArchivedMessages
from fencepost.conversations.rows.messages import (
    MessageRows,
    message_sort,
    open_question,
    rating_sort,
    read_conversation,
)
from fencepost.conversations.rows.models import MessageRow, RatingRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.rows import Item
from fencepost.kernel.aws.session import ClientFactory
from fencepost.kernel.aws.table import Table
from fencepost.kernel.paging import Page
from fencepost.kernel.ports import Clock

_LAST_SEQ = 10**12 - 1
"""The highest number that a message's sort key can hold."""


class MessagePages:
    """Reads pages of messages.

    Args:
        table: name of the conversations' table.
        blobs: the store of big contents and archived blocks.
        client: makes or returns the client.
        clock: decides which messages are past their site's retention.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory, clock: Clock) -> None:
        self._table = Table(table, client)
        self._clock = clock
        self._messages = MessageRows(blobs)
        self._archived = ArchivedMessages(table, blobs, client)

    def page(
        self, scope: Scope, conversation_id: str, after: int | None, limit: int, *, newest_first: bool
    ) -> Page[Message]:
        """Return a page of messages, as `ConversationStore.messages` does."""
        item = self._table.get(keys.conversation_row(scope, conversation_id))
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
            # The whole page has expired and is not removed yet; later pages may hold messages.
            after = found[limit - 1].seq

    def _run(self, scope: Scope, item: Item, after: int | None, limit: int, *, newest_first: bool) -> list[Message]:
        """Return up to `limit` messages.

        The conversation's row was read first and blocks are read last, so a message that moves from one place to the
        next in between is found twice and never missed.
        """
        conversation, waiting = read_conversation(item), open_question(item)
        if newest_first:
            low, high = conversation.kept_from, _LAST_SEQ if after is None else after - 1
        else:
            low, high = max(conversation.kept_from, (after or 0) + 1), _LAST_SEQ
        found = {waiting.seq: waiting} if waiting and low <= waiting.seq <= high else {}
        rows = self._rows(scope, conversation.id, low, high, limit, newest_first=newest_first)
        found |= {message.seq: message for message in rows}
        last = min(high, conversation.next_seq - 1)
        # Numbers have no gaps: a number without a row has moved to a block.
        wanted = range(max(low, last - limit + 1), last + 1) if newest_first else range(low, min(last + 1, low + limit))
        if not found.keys() >= set(wanted):
            moved = self._archived.read(scope, conversation, after=after, limit=limit, newest_first=newest_first)
            found = {message.seq: message for message in self._rated(scope, conversation.id, moved)} | found
        return [found[seq] for seq in sorted(found, reverse=newest_first)][:limit]

    def _rows(
        self, scope: Scope, conversation_id: str, low: int, high: int, limit: int, *, newest_first: bool
    ) -> list[Message]:
        if low > high:
            return []
        here = MessageRow.pk == keys.conversation(scope, conversation_id)
        numbers = MessageRow.sk.between(message_sort(low), message_sort(high))
        items = self._table.query(here & numbers, limit=limit, descending=newest_first)
        return [self._messages.message(scope, item) for item in items]

    def _rated(self, scope: Scope, conversation_id: str, moved: Sequence[Message]) -> Iterator[Message]:
        """Yield archived messages with the ratings that were given after they had moved to their blocks."""
        if not moved:
            return
        first, last = sorted((moved[0].seq, moved[-1].seq))
        here = RatingRow.pk == keys.conversation(scope, conversation_id)
        numbers = RatingRow.sk.between(rating_sort(first), rating_sort(last))
        rows = {item["sk"]["S"]: item for item in self._table.query(here & numbers)}
        for message in moved:
            row = rows.get(rating_sort(message.seq))
            if row is None:
                yield message
            else:
                yield replace(message, rating=cast("Rating", row["rating"]["S"]) if "rating" in row else None)
