"""Big contents, archived blocks, bundles and attachments in S3, each under its owner's own prefix."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import batched
from typing import TYPE_CHECKING, Any

from fencepost.adapters.aws_errors import aws_errors
from fencepost.adapters.dynamodb import keys
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.objects import is_passing, is_uploaded
from fencepost.ports import UploadForm

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef, PutObjectRequestTypeDef

# An object is at most some tens of megabytes, and S3 is asked within a turn only for what a row points to.
_CONNECT_TIMEOUT_SECONDS = 1
_READ_TIMEOUT_SECONDS = 4
_ATTEMPTS = 2
_DELETED_AT_ONCE = 1_000  # S3's own limit of `DeleteObjects`.
_DIGEST = "sha256"
# By this tag the bucket's lifecycle rule knows what to remove: owners' prefixes are too many for rules by prefix. A
# form has it in XML (POST Object in S3's reference).
_TAG, _TAGS = "kept=days", "<Tagging><TagSet><Tag><Key>kept</Key><Value>days</Value></Tag></TagSet></Tagging>"


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


class S3BlobStore:
    """Implements `fencepost.ports.BlobStore`.

    The bucket keeps no versions, so what was deleted is gone. Its lifecycle rules end unfinished uploads, and remove
    what is passing (`fencepost.domain.objects.is_passing`).

    Args:
        bucket: its name.
        client: makes or returns the client, at the first use.
        prefix: of all objects of a scope.
    """

    def __init__(
        self,
        bucket: str,
        client: Callable[[], S3Client] = blob_client,
        prefix: Callable[[Scope], str] = keys.object_prefix,
    ) -> None:
        self._bucket = bucket
        self._client = client
        self._prefix = prefix

    def put(self, scope: Scope, name: str, content: bytes, content_type: str) -> None:
        """See `fencepost.ports.BlobStore`."""
        request: PutObjectRequestTypeDef = {
            "Bucket": self._bucket,
            "Key": self._key(scope, name),
            "Body": content,
            "ContentType": content_type,
            "Metadata": {_DIGEST: hashlib.sha256(content).hexdigest()},
        }
        if is_passing(name):
            request["Tagging"] = _TAG
        try:
            self._client().put_object(**request)
        except aws_errors():
            raise _unavailable() from None

    def get(self, scope: Scope, name: str) -> bytes | None:
        """See `fencepost.ports.BlobStore`. What a client uploaded bears no hash of ours."""
        try:
            stored = self._client().get_object(Bucket=self._bucket, Key=self._key(scope, name))
            content, digest = stored["Body"].read(), stored["Metadata"].get(_DIGEST)
        except aws_errors() as error:
            if self._is_absence(error, scope, name):
                return None
            raise _unavailable() from None
        if digest != hashlib.sha256(content).hexdigest() and not (digest is None and is_uploaded(name)):
            raise _unavailable()
        return content

    def delete(self, scope: Scope, prefix: str) -> int:
        """See `fencepost.ports.BlobStore`."""
        deleted = 0
        for some in batched(self.names(scope, prefix), _DELETED_AT_ONCE, strict=False):
            self._delete([{"Key": self._key(scope, name)} for name in some])
            deleted += len(some)
        return deleted

    def names(self, scope: Scope, prefix: str) -> Iterator[str]:
        """See `fencepost.ports.BlobStore`."""
        below = self._prefix(scope)
        pages = self._client().get_paginator("list_objects_v2")
        try:
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._key(scope, prefix)):
                yield from (entry["Key"].removeprefix(below) for entry in page.get("Contents", ()))
        except aws_errors():
            raise _unavailable() from None

    def link(self, scope: Scope, name: str, seconds: int) -> str:
        """See `fencepost.ports.BlobStore`."""
        where = {"Bucket": self._bucket, "Key": self._key(scope, name)}
        try:
            return self._client().generate_presigned_url("get_object", Params=where, ExpiresIn=seconds)
        except aws_errors():
            raise _unavailable() from None

    def upload_form(self, scope: Scope, name: str, content_type: str, max_bytes: int, seconds: int) -> UploadForm:
        """See `fencepost.ports.BlobStore`. S3 itself refuses another type, another name and a larger file."""
        fields = {"Content-Type": content_type, "tagging": _TAGS}
        bounds: list[Any] = [{field: value} for field, value in fields.items()]
        try:
            form = self._client().generate_presigned_post(
                self._bucket,
                self._key(scope, name),
                Fields=fields,
                Conditions=[*bounds, ["content-length-range", 1, max_bytes]],
                ExpiresIn=seconds,
            )
        except aws_errors():
            raise _unavailable() from None
        return UploadForm(form["url"], form["fields"])

    def _key(self, scope: Scope, name: str) -> str:
        return f"{self._prefix(scope)}{name}"

    def _is_absence(self, error: Exception, scope: Scope, name: str) -> bool:
        """Tell whether there is no such object.

        To a role that may list under a prefix alone, S3 does not say so (docs/adr/0010): it is asked by a listing.
        """
        code = _error_code(error)
        return code == "NoSuchKey" or (code == "AccessDenied" and name not in self.names(scope, name))

    def _delete(self, objects: list[ObjectIdentifierTypeDef]) -> None:
        try:
            answer = self._client().delete_objects(Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True})
        except aws_errors():
            raise _unavailable() from None
        if answer.get("Errors"):
            raise _unavailable()


def _unavailable() -> FencepostError:
    # The SDK's error is dropped: its text may name the bucket or the key.
    return FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)


def _error_code(error: Exception) -> str:
    from botocore.exceptions import ClientError

    return error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
