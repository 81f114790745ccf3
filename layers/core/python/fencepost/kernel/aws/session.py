"""The DynamoDB client of a process, and clients of other credentials."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_dynamodb import DynamoDBClient


type ClientFactory = Callable[[], DynamoDBClient]
"""Makes or returns a client; called for each request, so that nothing is connected before it is used."""

# A table in the same region answers in milliseconds. Two attempts, and the worst of them, leave the provider its time.
CONNECT_TIMEOUT_SECONDS = 1
READ_TIMEOUT_SECONDS = 2
ATTEMPTS = 2


@cache
def dynamodb_client() -> DynamoDBClient:
    """Return the client that all tables share, and with it one pool of warm connections.

    The SDK is imported here, at the first use. A separate session makes this safe in threads.
    """
    from boto3.session import Session

    return connect(Session())


def connect(session: Session) -> DynamoDBClient:
    """Return a new client with the credentials of a session."""
    from botocore.config import Config

    # The legacy mode backs off by up to 50 ms on DynamoDB; the standard mode by up to a second.
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_SECONDS,
        read_timeout=READ_TIMEOUT_SECONDS,
        retries={"total_max_attempts": ATTEMPTS, "mode": "legacy"},
    )
    return session.client("dynamodb", config=config)


def aws_errors() -> tuple[type[Exception], ...]:
    """Return what the SDK raises where a service refuses, does not answer, or answers what cannot be read.

    An `except` clause asks for it only when something was raised, so the SDK is not imported for it.
    """
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    return BotoCoreError, ClientError, ResponseParserError
