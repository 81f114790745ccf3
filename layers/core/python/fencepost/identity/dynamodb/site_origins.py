"""The pages that may use any of an organisation's sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.identity import rows as keys
from fencepost.identity.domain.origins import Origin
from fencepost.identity.domain.sites import Site
from fencepost.kernel.aws.legacy.client import store_errors
from fencepost.kernel.aws.legacy.rows import from_item
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@dataclass(frozen=True, slots=True)
class OrgOrigins:
    """What all active sites of an organisation list.

    Attributes:
        version: the sites' versions added up: each change of one raises it, and no site's row is ever removed.
    """

    origins: frozenset[Origin]
    version: int


def org_origins(client: DynamoDBClient, table: str, org: str) -> OrgOrigins:
    """Read an organisation's sites.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    try:
        pages = client.get_paginator("query").paginate(
            TableName=table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
            ExpressionAttributeValues={":pk": {"S": keys.organisation(org)}, ":prefix": {"S": keys.SITES}},
        )
        sites = [from_item(Site, row) for page in pages for row in page["Items"]]
    except store_errors():
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
    origins = frozenset(origin for site in sites if site.active for origin in site.origins)
    return OrgOrigins(origins, sum(site.version for site in sites))
