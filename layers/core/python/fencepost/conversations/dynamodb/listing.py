"""The list of an owner's conversations, in the order of their last change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING

from fencepost.conversations.domain.archives import is_expired
from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.rows.conversation_rows import read_conversation
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import ClientFactory, Item
from fencepost.kernel.aws.legacy.reading import query_pages
from fencepost.kernel.paging import Page
from fencepost.kernel.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef

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
