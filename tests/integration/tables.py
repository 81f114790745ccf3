"""The emulated DynamoDB as tests use it: a client like production's, tables, and what stands in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from threading import Lock
from typing import Any, cast
from uuid import uuid4

from boto3.session import Session
from botocore.awsrequest import AWSPreparedRequest
from botocore.config import Config
from botocore.exceptions import ReadTimeoutError
from botocore.httpsession import URLLib3Session
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

from fencepost.kernel.aws.session import ATTEMPTS, CONNECT_TIMEOUT_SECONDS
from fencepost.kernel.money import MicroDollars
from fencepost.limits.domain.ledger import DayBill
from fencepost.limits.dynamodb.ledger import DynamoDbLedger

# The emulator shares two processors with 64 threads; what is tested is counts, never time.
_PATIENT_READ_SECONDS = 60


@cache
def _session() -> Session:
    return Session()


_SESSION_LOCK = Lock()


def connect(endpoint_url: str) -> DynamoDBClient:
    """Return a client that retries as production's does."""
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_SECONDS,
        read_timeout=_PATIENT_READ_SECONDS,
        retries={"total_max_attempts": ATTEMPTS, "mode": "legacy"},
        max_pool_connections=64,
    )
    # A session reads the service's model once, which takes most of a second; it may make one client at a time.
    with _SESSION_LOCK:
        return _session().client("dynamodb", endpoint_url=endpoint_url, config=config)


def create_table(client: DynamoDBClient) -> str:
    """Make a table like the template's, and return its name."""
    name = f"table-{uuid4()}"
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    return name


def sent_operations(client: DynamoDBClient) -> list[str]:
    """Return a list to which every request is added that leaves the client, retries included."""
    sent: list[str] = []

    def note(request: AWSPreparedRequest, **_: Any) -> None:
        target = cast("bytes", request.headers["X-Amz-Target"])
        sent.append(target.decode().rpartition(".")[2])

    client.meta.events.register_last("before-send.dynamodb", note)
    return sent


def lose_answers(client: DynamoDBClient, count: int) -> None:
    """Let the next requests reach the store, and their answers get lost on the way back."""
    left = iter(range(count))

    def lose(request: AWSPreparedRequest, **_: Any) -> None:
        if next(left, None) is not None:
            URLLib3Session().send(request)
            raise ReadTimeoutError(endpoint_url=str(request.url))

    client.meta.events.register_first("before-send.dynamodb", lose)


@dataclass(frozen=True)
class Books:
    """A ledger on a table of its own."""

    client: DynamoDBClient
    table: str

    @property
    def ledger(self) -> DynamoDbLedger:
        """The adapter under test."""
        return DynamoDbLedger(self.table, lambda: self.client)

    def item(self, day: date) -> dict[str, AttributeValueTypeDef]:
        """Return a day's item as it is stored."""
        return self.client.get_item(TableName=self.table, Key={"pk": {"S": f"day#{day.isoformat()}"}}).get("Item", {})

    def bill(self, day: date) -> DayBill:
        """Return a day's bill."""
        item = self.item(day)
        calls, committed, spent = (int(item.get(name, {"N": "0"})["N"]) for name in ("calls", "committed", "spent"))
        return DayBill(calls, MicroDollars(committed), MicroDollars(spent))


def open_books(endpoint_url: str) -> Books:
    """Return an empty ledger with a client of its own."""
    client = connect(endpoint_url)
    return Books(client, create_table(client))
