"""The corpus' table on the emulated DynamoDB, made like the template's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from mypy_boto3_dynamodb import DynamoDBClient

from fencepost.documents.dynamodb.documents import DynamoDbDocuments, DynamoDbDueDocuments
from tests.integration.tables import connect

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, KeySchemaElementTypeDef

_ATTRIBUTES = ("pk", "sk", "created_at", "agenda", "due_at")


@dataclass(frozen=True)
class CorpusTable:
    """The table, and a client of it."""

    client: DynamoDBClient
    name: str

    @property
    def store(self) -> DynamoDbDocuments:
        """The adapter under test."""
        return DynamoDbDocuments(self.name, lambda: self.client)

    @property
    def agenda(self) -> DynamoDbDueDocuments:
        """The adapter of what is due."""
        return DynamoDbDueDocuments(self.name, lambda: self.client)

    def rows(self) -> list[dict[str, AttributeValueTypeDef]]:
        """Return all rows."""
        pages = self.client.get_paginator("scan").paginate(TableName=self.name, ConsistentRead=True)
        return [item for page in pages for item in page["Items"]]


def open_corpus_table(endpoint_url: str) -> CorpusTable:
    """Make an empty table, and a client of its own."""
    client, name = connect(endpoint_url), f"table-{uuid4()}"
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": part, "AttributeType": "S"} for part in _ATTRIBUTES],
        KeySchema=_keys("pk", "sk"),
        LocalSecondaryIndexes=[
            {
                "IndexName": "by_creation",
                "KeySchema": _keys("pk", "created_at"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "agenda",
                "KeySchema": _keys("agenda", "due_at"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )
    return CorpusTable(client, name)


def _keys(partition: str, sort: str) -> list[KeySchemaElementTypeDef]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]
