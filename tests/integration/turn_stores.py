"""A `TurnWorld` on the emulated DynamoDB: what one process leaves there, another one finds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from mypy_boto3_dynamodb import DynamoDBClient

from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.kernel.clock import utc_now
from fencepost.kernel.ports import Clock
from fencepost.limits.domain.ledger import DayBill
from fencepost.turns.dynamodb.turns import DynamoDbTurnStore
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.tables import Books, create_table
from tests.worlds.turn import TurnWorld


@dataclass
class StoredTurns:
    """A world, its tables and its books."""

    world: TurnWorld
    tables: ConversationTables
    books: Books
    blobs: FakeBlobs

    @property
    def store(self) -> DynamoDbTurnStore:
        """The adapter under test."""
        return turn_store(self.tables, self.blobs)

    def bill(self, day: date | None = None) -> DayBill:
        """Return the day's bill."""
        return self.books.bill(day or self.world.clock.now.date())

    def bills(self) -> list[DayBill]:
        """Return the bills of all days: a test may run over midnight."""
        rows = self.books.client.scan(TableName=self.books.table)["Items"]
        return [self.bill(date.fromisoformat(row["pk"]["S"].removeprefix("day#"))) for row in rows]


def turn_store(
    tables: ConversationTables, blobs: FakeBlobs, client: DynamoDBClient | None = None, clock: Clock = utc_now
) -> DynamoDbTurnStore:
    """Return the adapter on these tables."""
    return DynamoDbTurnStore(tables.conversations, tables.directory, blobs, lambda: client or tables.client, clock)


def stored_turns(endpoint_url: str) -> StoredTurns:
    """Return a world whose conversations and bill are on the emulated DynamoDB."""
    tables = open_conversation_tables(endpoint_url)
    return reach(tables, Books(tables.client, create_table(tables.client)))


def reach(tables: ConversationTables, books: Books) -> StoredTurns:
    """Return a world on tables that are there."""
    blobs = FakeBlobs()
    world = TurnWorld(ledger=books.ledger)
    world.store = turn_store(tables, blobs, clock=world.clock)
    world.conversations = DynamoDbConversations(tables.conversations, blobs, lambda: tables.client, world.clock)
    return StoredTurns(world, tables, books, blobs)
