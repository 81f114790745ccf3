"""DynamoDB clients of the process and of other credentials, and the errors of AWS clients."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_dynamodb import DynamoDBClient


type ClientFactory = Callable[[], DynamoDBClient]
"""Makes or returns a client. Called for each request, so that clients are made at their first use."""

# Tables respond within milliseconds. Two attempts that time out still leave enough time for the provider.
CONNECT_TIMEOUT_SECONDS = 1
READ_TIMEOUT_SECONDS = 2
ATTEMPTS = 2


@cache
def dynamodb_client() -> DynamoDBClient:
    """Return the client that all tables share, with one pool of connections.

    It imports the SDK, so it is called at the first use. A separate session makes it safe in threads.
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
    """Return the SDK's exceptions for error responses, failed connections and malformed responses.

    An `except` clause evaluates this call only after an exception, so it never causes the import of the SDK.
    """
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    return BotoCoreError, ClientError, ResponseParserError
