"""Access to the tables and the bucket that hold organisations' data, with the credentials of one organisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fencepost.access.sts import Access, TenantSessions, tenanted
from fencepost.blobs.ports import BlobStore
from fencepost.blobs.s3 import S3BlobStore
from fencepost.kernel.clock import utc_now
from fencepost.observability.ports import Events
from fencepost.settings import Settings


@dataclass(frozen=True, slots=True)
class TenantStores:
    """Builds stores of organisations' data. The functions that return one store each stand in the rooms' modules.

    Attributes:
        table: name of the conversations table.
        directory: name of the directory table.
        bucket: name of the content bucket.
        sessions: sessions of the tenant role, shared by all stores; None where the function's own role is used.
        corpus_table: name of the documents' table.
    """

    table: str
    directory: str
    bucket: str
    sessions: TenantSessions | None
    corpus_table: str = ""

    def build[Store](self, make: Callable[[Access], Store]) -> Store:
        """Return a store whose calls use the credentials of their scope's organisation."""
        return tenanted(make, self.sessions)

    def blobs_of(self, access: Access) -> S3BlobStore:
        """Return the blob store that shares the given access with another store."""
        return S3BlobStore(self.bucket, access.s3)

    @property
    def blobs(self) -> BlobStore:
        """Store of large answers, archived blocks, export bundles and attachments."""
        return self.build(self.blobs_of)


def tenant_stores(settings: Settings, log: Events) -> TenantStores:
    """Return the builder of a process. Opens no connection."""
    return TenantStores(
        settings.conversations_table,
        settings.directory_table,
        settings.content_bucket,
        TenantSessions(settings.tenant_role, log, utc_now) if settings.tenant_role else None,
        settings.corpus_table,
    )
