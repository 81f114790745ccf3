"""Archive of the last good `llms-full.txt` in S3, shared by all instances."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, override

from fencepost.documents.ports import ArchivedDocument, DocumentArchive
from fencepost.kernel.aws.session import aws_errors
from fencepost.kernel.ports import RawDocument, Validators
from fencepost.observability.domain.events import ArchiveFault, DocumentsEvent
from fencepost.observability.ports import Events

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_TIMEOUT_SECONDS = 1
_CONFIRMED, _ETAG, _LAST_MODIFIED = "confirmed-at", "etag", "last-modified"


def impatient_client() -> S3Client:
    """Return a client with timeouts of a second and no retries: a visitor waits, and the archive is optional."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3",
        config=Config(
            connect_timeout=_TIMEOUT_SECONDS, read_timeout=_TIMEOUT_SECONDS, retries={"total_max_attempts": 1}
        ),
    )


class S3DocumentArchive(DocumentArchive):
    """Stores copies in S3. Failures are reported as `archive_failed` events and never end a turn.

    Each address has one object: the gzipped text, with its validators and the time of confirmation as metadata.

    Args:
        bucket: the bucket's name.
        events: receives failures, with the reasons `read_failed`, `corrupt` and `write_failed`.
        client: makes the S3 client at the first use, so that instances that never use it do not load the SDK.
    """

    def __init__(self, bucket: str, events: Events, *, client: Callable[[], S3Client] = impatient_client) -> None:
        self._bucket = bucket
        self._events = events
        self._make_client = client

    @override
    def load(self, url: str) -> ArchivedDocument | None:
        try:
            stored = self._client.get_object(Bucket=self._bucket, Key=_key(url))
            body, metadata = stored["Body"].read(), stored["Metadata"]
            validators = Validators(metadata.get(_ETAG), metadata.get(_LAST_MODIFIED))
            document = RawDocument(gzip.decompress(body).decode(), validators)
            return ArchivedDocument(document, datetime.fromisoformat(metadata[_CONFIRMED]).astimezone(UTC))
        except aws_errors() as error:
            if not _is_absence(error):
                self._report("read_failed")
        except (OSError, EOFError, zlib.error, ValueError, KeyError):
            self._report("corrupt")
        return None

    @override
    def save(self, url: str, copy: ArchivedDocument) -> None:
        try:
            self._client.put_object(
                Bucket=self._bucket,
                Key=_key(url),
                Body=gzip.compress(copy.document.text.encode(), compresslevel=1, mtime=0),
                ContentType="text/plain; charset=utf-8",
                ContentEncoding="gzip",
                Metadata=_metadata(copy),
            )
        except aws_errors():
            self._report("write_failed")

    @cached_property
    def _client(self) -> S3Client:
        return self._make_client()

    def _report(self, reason: ArchiveFault) -> None:
        self._events.emit(DocumentsEvent(result="archive_failed", reason=reason))


def _is_absence(error: Exception) -> bool:
    from botocore.exceptions import ClientError

    return isinstance(error, ClientError) and error.response["Error"]["Code"] == "NoSuchKey"


def _key(url: str) -> str:
    return f"documents/{hashlib.sha256(url.encode()).hexdigest()}.txt.gz"


def _metadata(copy: ArchivedDocument) -> dict[str, str]:
    validators = copy.document.validators
    known = {
        _CONFIRMED: copy.confirmed_at.astimezone(UTC).isoformat(),
        _ETAG: validators.etag,
        _LAST_MODIFIED: validators.last_modified,
    }
    return {name: value for name, value in known.items() if value is not None}
