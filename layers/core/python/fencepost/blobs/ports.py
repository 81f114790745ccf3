"""The store of objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from fencepost.identity.domain.scope import Scope


class BlobStore(Protocol):
    """Objects in S3 under the scope's own prefix: big answers, archived blocks, bundles, attachments."""

    def put(self, scope: Scope, name: str, content: bytes, content_type: str) -> None:
        """Store an object. Its SHA-256 goes along and is compared on reading."""
        ...

    def get(self, scope: Scope, name: str) -> bytes | None:
        """Return an object, or None where there is none.

        Raises:
            FencepostError: `conversations_unavailable`; it cannot be read, or is not what was stored.
        """
        ...

    def delete(self, scope: Scope, prefix: str) -> int:
        """Remove all versions of all objects whose names begin so, and return how many objects there were."""
        ...

    def names(self, scope: Scope, prefix: str) -> Iterator[str]:
        """Yield the names of objects that begin so."""
        ...

    def link(self, scope: Scope, name: str, seconds: int) -> str:
        """Return a presigned address from which anybody can read the object for so long."""
        ...

    def upload_form(self, scope: Scope, name: str, content_type: str, max_bytes: int, seconds: int) -> UploadForm:
        """Return a presigned POST for one object of one type and bounded size."""
        ...


@dataclass(frozen=True, slots=True)
class UploadForm:
    """Where and with which form fields a browser uploads a file (S3 POST policy)."""

    url: str
    fields: dict[str, str]
