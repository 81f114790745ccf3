"""The S3 client of a process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_s3 import S3Client


# An object is at most some tens of megabytes, and S3 is asked within a turn only for what a row points to.
_CONNECT_TIMEOUT_SECONDS = 1
_READ_TIMEOUT_SECONDS = 4
_ATTEMPTS = 2


@cache
def blob_client() -> S3Client:
    """Return the client of a process. The SDK is imported here, at the first use."""
    from boto3.session import Session

    return connect(Session())


def connect(session: Session) -> S3Client:
    """Make a client of a session's credentials."""
    from botocore.config import Config

    config = Config(
        connect_timeout=_CONNECT_TIMEOUT_SECONDS,
        read_timeout=_READ_TIMEOUT_SECONDS,
        retries={"total_max_attempts": _ATTEMPTS, "mode": "standard"},
        # Links and forms of the older signatures are refused in newer regions.
        signature_version="s3v4",
    )
    return session.client("s3", config=config)
