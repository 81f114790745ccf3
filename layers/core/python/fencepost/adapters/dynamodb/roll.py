"""The roll of organisations, in the directory's table, and how far a round of them has come."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.client import OneTable, store_errors
from fencepost.adapters.dynamodb.reading import get_row, query_pages
from fencepost.adapters.dynamodb.rows import attribute, plain
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.ports import Page

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef

_DONE = "done"


class DynamoDbRoll(OneTable):
    """Implements `fencepost.ports.OrganisationRoll` in two partitions of the directory's table."""

    def page(self, *, after: str | None, limit: int) -> Page[str]:
        """See `fencepost.ports.OrganisationRoll`."""
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": attribute(keys.ROLL)},
            "Limit": limit,
        }
        if after is not None:
            request["ExclusiveStartKey"] = keys.roll_row(after)
        page = next(query_pages(self._client(), request))
        found = tuple(unquote(item["sk"]["S"]) for item in page["Items"])
        return Page(found, found[-1] if found and "LastEvaluatedKey" in page else None)

    def last_done(self) -> str | None:
        """See `fencepost.ports.OrganisationRoll`."""
        row = get_row(self._client(), self._table, keys.round_row()) or {}
        return plain(row[_DONE]) if _DONE in row else None

    def done(self, org: str) -> None:
        """See `fencepost.ports.OrganisationRoll`."""
        try:
            self._client().put_item(TableName=self._table, Item=keys.round_row() | {_DONE: attribute(org)})
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
