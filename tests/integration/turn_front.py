"""`POST /v1/chat` with every store on the emulated DynamoDB: proxy events in, answers out, operations counted."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import batched
from typing import TYPE_CHECKING

from fencepost.access.callers import Callers
from fencepost.access.tokens.visitor_tokens import SignedVisitorTokens
from fencepost.conversations.rows.messages import MessageRows, conversation_item
from fencepost.http.cors import SiteOrigins
from fencepost.http.endpoint import Endpoint
from fencepost.http.routing import Router
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Organisation, Site
from fencepost.identity.dynamodb.directory import DynamoDbDirectory
from fencepost.identity.rows import DirectoryRow
from fencepost.identity.service import SiteService
from fencepost.kernel.aws.rows import to_item
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.dynamodb.ledger import DynamoDbLedger, site_account
from fencepost.limits.dynamodb.limiter import DynamoDbAddressLimiter
from fencepost.limits.service.address_guard import AddressGuard
from fencepost.limits.service.site_caps import SiteLedger
from fencepost.turns.routes.turns import TurnRoutes
from fencepost.web.api import Api
from tests.fakes.answers import FakeKeys
from tests.integration.tables import create_table
from tests.integration.turn_stores import StoredTurns, stored_turns
from tests.worlds.api import ApiWorld, TrustedTokens, conversation, exchange
from tests.worlds.chat import MODEL, WIDE_LIMITS, Reply, proxy_event

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import WriteRequestTypeDef

SITE = Site(org="acme", id="docs", key="acme-docs", model=MODEL, caps=Caps(10_000, MicroDollars(10**9)), version=1)
_WRITTEN_AT_ONCE = 25


@dataclass
class TurnFront:
    """The endpoint of the chat function, and who asks it."""

    stored: StoredTurns
    endpoint: Endpoint
    headers: dict[str, str]
    scope: Scope

    def say(self, message: str, conversation_id: str | None = None) -> Reply:
        """Send a message."""
        body = json.dumps({"message": message, "conversationId": conversation_id})
        event = proxy_event(body, headers={**self.headers, "content-type": "application/json"}, resource="/v1/chat")
        answer = self.endpoint(event, None)
        return Reply(answer["statusCode"], answer["headers"], answer["body"])

    def converse(self, conversation_id: str, turns: int) -> None:
        """Store a conversation with so many turns, as these would have left it, but for their pointers."""
        world, tables, scope = self.stored.world, self.stored.tables, self.scope
        rows = [conversation_item(scope, conversation(conversation_id, turns, world.clock))]
        for number in range(1, turns + 1):
            messages = exchange(conversation_id, number, world.clock)
            rows += [MessageRows(self.stored.blobs).item(scope, conversation_id, one) for one in messages]
        for some in batched(rows, _WRITTEN_AT_ONCE, strict=False):
            requests: list[WriteRequestTypeDef] = [{"PutRequest": {"Item": row}} for row in some]
            tables.client.batch_write_item(RequestItems={tables.conversations: requests})


def turn_front(endpoint_url: str) -> TurnFront:
    """Return the front for a member of `acme`, whose site has caps of its own."""
    stored = stored_turns(endpoint_url)
    tables, world, keys_of = stored.tables, stored.world, FakeKeys()
    scope = tables.member_scope()
    for item in (
        to_item(Organisation(id="acme", default_site="docs", version=1)) | DirectoryRow.key("org#acme#", "org"),
        to_item(SITE) | DirectoryRow.key("org#acme#", "site#docs"),
    ):
        tables.client.put_item(TableName=tables.directory, Item=item)
    directory = DynamoDbDirectory(tables.directory, lambda: tables.client)
    sites = SiteService(directory, replace(world.site, budgets=SITE.budgets))
    own = DynamoDbLedger(stored.books.table, lambda: tables.client, account=site_account("acme", "docs"))
    world.ledger = SiteLedger(stored.books.ledger, own, Caps(10_000, MicroDollars(10**9)))
    service = replace(world.service(), sites=sites, directory=directory)
    visitors = SignedVisitorTokens(keys_of, timedelta(hours=1))
    limiter = DynamoDbAddressLimiter(create_table(tables.client), keys_of, lambda: tables.client)
    guard = AddressGuard(limiter, WIDE_LIMITS, world.events, world.clock)
    api = Api(
        Router(TurnRoutes(service, world.clock).routes()),
        SiteOrigins(frozenset()),
        guard,
        guard,
        Callers(visitors, TrustedTokens(), directory, world.clock),
        sites,
        keys_of.edge_secret,
    )
    endpoint = Endpoint(api, SiteOrigins(frozenset()), world.events, None, world.clock)
    return TurnFront(stored, endpoint, ApiWorld().member(), scope)
