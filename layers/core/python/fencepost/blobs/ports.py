"""The object store, and forms for uploads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from fencepost.identity.domain.scope import Scope


class BlobStore(Protocol):
    """Objects under the scope's prefix. Methods raise `FencepostError` (`conversations_unavailable`) on failure."""

    def put(self, scope: Scope, name: str, content: bytes, content_type: str) -> None:
        """Store an object, with its SHA-256, which is verified on reading."""
        ...

    def get(self, scope: Scope, name: str) -> bytes | None:
        """Return the content of an object; None if it does not exist.

        Raises:
            FencepostError: `conversations_unavailable`; the object cannot be read, or its digest does not match.
        """
        ...

    def delete(self, scope: Scope, prefix: str) -> int:
        """Remove all objects whose names begin with `prefix`, and return how many existed."""
        ...

    def names(self, scope: Scope, prefix: str) -> Iterator[str]:
        """Yield the names of objects that begin with `prefix`."""
        ...

    def link(self, scope: Scope, name: str, seconds: int) -> str:
        """Return a presigned URL. Any holder of it can read the object for `seconds`."""
        ...

    def upload_form(self, scope: Scope, name: str, content_type: str, max_bytes: int, seconds: int) -> UploadForm:
        """Return a presigned POST for one object, of a fixed type and at most `max_bytes`, valid for `seconds`."""
        ...


@dataclass(frozen=True, slots=True)
class UploadForm:
    """URL and form fields for an upload by a browser (S3 POST policy)."""

    url: str
    fields: dict[str, str]
