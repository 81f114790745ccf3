"""S3 clients of the process and of other credentials."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_s3 import S3Client


# Objects have at most some tens of megabytes; turns read only those that a row refers to.
_CONNECT_TIMEOUT_SECONDS = 1
_READ_TIMEOUT_SECONDS = 4
_ATTEMPTS = 2


@cache
def blob_client() -> S3Client:
    """Return the client of the process. It imports the SDK, so it is called at the first use."""
    from boto3.session import Session

    return connect(Session())


def connect(session: Session) -> S3Client:
    """Return a new client with the credentials of a session."""
    from botocore.config import Config

    config = Config(
        connect_timeout=_CONNECT_TIMEOUT_SECONDS,
        read_timeout=_READ_TIMEOUT_SECONDS,
        retries={"total_max_attempts": _ATTEMPTS, "mode": "standard"},
        # Newer regions refuse presigned links and forms with older signatures.
        signature_version="s3v4",
    )
    return session.client("s3", config=config)
