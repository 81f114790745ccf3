"""The object store on S3."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import batched
from typing import TYPE_CHECKING, Any, override

from fencepost.blobs import domain as blobs_domain
from fencepost.blobs.domain import is_passing, is_uploaded
from fencepost.blobs.ports import BlobStore, UploadForm
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.s3 import blob_client
from fencepost.kernel.aws.session import aws_errors
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef, PutObjectRequestTypeDef


_DELETED_AT_ONCE = 1_000  # S3's own limit of `DeleteObjects`.
_DIGEST = "sha256"


# The bucket's lifecycle rule removes objects with this tag: there are too many owners for rules by prefix. Upload forms
# hold the tag as XML (POST Object in S3's reference).
_TAG, _TAGS = "kept=days", "<Tagging><TagSet><Tag><Key>kept</Key><Value>days</Value></Tag></TagSet></Tagging>"


class S3BlobStore(BlobStore):
    """Object store in one bucket.

    The bucket keeps no versions, so deleted objects are gone. Its lifecycle rules abort unfinished uploads, and remove
    objects that are needed for days only (`fencepost.blobs.domain.is_passing`).

    Args:
        bucket: name of the bucket.
        client: makes or returns the client, at the first use.
        prefix: returns the prefix of a scope's objects.
    """

    def __init__(
        self,
        bucket: str,
        client: Callable[[], S3Client] = blob_client,
        prefix: Callable[[Scope], str] = blobs_domain.object_prefix,
    ) -> None:
        self._bucket = bucket
        self._client = client
        self._prefix = prefix

    @override
    def put(self, scope: Scope, name: str, content: bytes, content_type: str) -> None:
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

    @override
    def get(self, scope: Scope, name: str) -> bytes | None:
        """Return the content of an object. Only objects that clients uploaded may lack a digest."""
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

    @override
    def delete(self, scope: Scope, prefix: str) -> int:
        deleted = 0
        for some in batched(self.names(scope, prefix), _DELETED_AT_ONCE, strict=False):
            self._delete([{"Key": self._key(scope, name)} for name in some])
            deleted += len(some)
        return deleted

    @override
    def names(self, scope: Scope, prefix: str) -> Iterator[str]:
        below = self._prefix(scope)
        pages = self._client().get_paginator("list_objects_v2")
        try:
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._key(scope, prefix)):
                yield from (entry["Key"].removeprefix(below) for entry in page.get("Contents", ()))
        except aws_errors():
            raise _unavailable() from None

    @override
    def link(self, scope: Scope, name: str, seconds: int) -> str:
        where = {"Bucket": self._bucket, "Key": self._key(scope, name)}
        try:
            return self._client().generate_presigned_url("get_object", Params=where, ExpiresIn=seconds)
        except aws_errors():
            raise _unavailable() from None

    @override
    def upload_form(self, scope: Scope, name: str, content_type: str, max_bytes: int, seconds: int) -> UploadForm:
        """Return a presigned POST. S3 refuses another type, another name and a larger file."""
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
        """Tell whether the object does not exist.

        S3 answers "access denied" for absent objects to a role that may list only under a prefix (docs/adr/0010), so
        the listing is checked.
        """
        from botocore.exceptions import ClientError

        code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
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
