"""The directory's and the conversations' tables on the emulated DynamoDB, made like the template's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HTTPHeaders
from mypy_boto3_dynamodb import DynamoDBClient

from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.rows.messages import conversation_item
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Action, Member, Membership, OrgRole, Scope, authorize, own
from fencepost.kernel.aws.rows import from_item, to_item
from tests.conformance.samples import NOW
from tests.integration.tables import connect

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeDefinitionTypeDef,
        AttributeValueTypeDef,
        KeySchemaElementTypeDef,
        LocalSecondaryIndexTypeDef,
    )

BY_UPDATE = "by_update"


class RawBody(BytesIO):
    """A body as botocore reads it."""

    def stream(self, **_: object) -> Iterator[bytes]:
        """Yield it as a whole."""
        yield self.read()


@dataclass(frozen=True)
class ConversationTables:
    """Both tables, and a client of them."""

    client: DynamoDBClient
    directory: str
    conversations: str

    def grant(self, org: str, user: str, *, active: bool = True, version: int = 1) -> Membership:
        """Store a membership as the directory does."""
        membership = Membership(org, user, OrgRole.MEMBER, active, version)
        item = to_item(membership) | keys.membership_row(org, user)
        self.client.put_item(TableName=self.directory, Item=item)
        return membership

    def member_scope(self, org: str = "acme", user: str = "u1", action: Action = Action.CHAT) -> Scope:
        """Make somebody a member, and return the scope of their own data."""
        caller = Member(org, user, self.grant(org, user))
        return authorize(caller, action, own(caller))

    def begin(self, scope: Scope, **changes: object) -> Conversation:
        """Store the row of a conversation, `c1` where it is not named, that has eight messages."""
        row = Conversation(id="c1", site="docs", incarnation="i1", title="", created_at=NOW, updated_at=NOW, next_seq=9)
        row = replace(row, **changes)  # type: ignore[arg-type]  # fields by name
        self.client.put_item(TableName=self.conversations, Item=conversation_item(scope, row))
        return row

    def conflict(self, operation: str, times: int) -> list[str]:
        """Let an operation meet a transaction on its way so many times; what it met is added to the list."""
        met: list[str] = []

        def answer(request: AWSPreparedRequest, **_: object) -> AWSResponse | None:
            if len(met) == times:
                return None
            met.append(operation)
            body = json.dumps({"__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException"}).encode()
            return AWSResponse(request.url, 400, HTTPHeaders(), RawBody(body))

        hook: Callable[..., Any] = answer
        self.client.meta.events.register(f"before-send.dynamodb.{operation}", hook)
        return met

    def rows(self, partition: str) -> list[dict[str, AttributeValueTypeDef]]:
        """Return all rows of a partition, by their sort keys."""
        pages = self.client.get_paginator("query").paginate(
            TableName=self.conversations,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": partition}},
        )
        return [item for page in pages for item in page["Items"]]

    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """Return a conversation's row."""
        key = keys.conversation_row(scope, conversation_id)
        item = self.client.get_item(TableName=self.conversations, Key=key, ConsistentRead=True).get("Item")
        return from_item(Conversation, item) if item else None

    def messages(self, scope: Scope, conversation_id: str) -> list[Message]:
        """Return the rows of a conversation's messages, by their numbers."""
        rows = self.rows(keys.conversation(scope, conversation_id))
        return [from_item(Message, row) for row in rows if row["sk"]["S"].startswith("m#")]


def open_conversation_tables(endpoint_url: str) -> ConversationTables:
    """Make both tables, empty, and a client of their own."""
    client = connect(endpoint_url)
    return ConversationTables(client, _create(client), _create(client, indexed=True))


def _create(client: DynamoDBClient, *, indexed: bool = False) -> str:
    name = f"table-{uuid4()}"
    names: tuple[str, ...] = ("pk", "sk", "updated_at", keys.REMEMBERED) if indexed else ("pk", "sk")
    attributes: list[AttributeDefinitionTypeDef] = [{"AttributeName": part, "AttributeType": "S"} for part in names]
    index: LocalSecondaryIndexTypeDef = {
        "IndexName": BY_UPDATE,
        "KeySchema": _key("updated_at"),
        "Projection": {"ProjectionType": "ALL"},
    }
    if indexed:
        client.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=attributes,
            KeySchema=_key("sk"),
            LocalSecondaryIndexes=[index],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": keys.REMEMBERED,
                    "KeySchema": [
                        {"AttributeName": keys.REMEMBERED, "KeyType": "HASH"},
                        {"AttributeName": "pk", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
    else:
        client.create_table(
            TableName=name, BillingMode="PAY_PER_REQUEST", AttributeDefinitions=attributes, KeySchema=_key("sk")
        )
    return name


def _key(sort: str) -> list[KeySchemaElementTypeDef]:
    return [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]
