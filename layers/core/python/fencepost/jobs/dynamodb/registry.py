"""The roll of organisations, in the directory's table, and how far a round of them has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, override
from urllib.parse import unquote

from fencepost.identity import rows as keys
from fencepost.jobs import rows as jobs_rows
from fencepost.jobs.ports import OrganisationRegistry
from fencepost.kernel.aws.legacy.client import OneTable, store_errors
from fencepost.kernel.aws.legacy.reading import get_row, query_pages
from fencepost.kernel.aws.legacy.rows import attribute, plain
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.paging import Page

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef

_DONE = "done"


class DynamoDbOrganisationRegistry(OneTable, OrganisationRegistry):
    """Implements `fencepost.jobs.ports.OrganisationRegistry` in two partitions of the directory's table."""

    @override
    def page(self, *, after: str | None, limit: int) -> Page[str]:
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": attribute(keys.REGISTRY)},
            "Limit": limit,
        }
        if after is not None:
            request["ExclusiveStartKey"] = keys.registry_row(after)
        page = next(query_pages(self._client(), request))
        found = tuple(unquote(item["sk"]["S"]) for item in page["Items"])
        return Page(found, found[-1] if found and "LastEvaluatedKey" in page else None)

    @override
    def last_done(self) -> str | None:
        row = get_row(self._client(), self._table, jobs_rows.round_row()) or {}
        return plain(row[_DONE]) if _DONE in row else None

    @override
    def done(self, org: str) -> None:
        try:
            self._client().put_item(TableName=self._table, Item=jobs_rows.round_row() | {_DONE: attribute(org)})
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
