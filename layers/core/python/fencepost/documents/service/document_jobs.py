"""Jobs on one document: queued, exclusive by a work lease, and changing the document's row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from fencepost.documents.domain.documents import Document
from fencepost.documents.ports import DocumentStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import OPERATOR, Job, Purpose
from fencepost.queue.service import new_lease


def document_job(scope: Scope, document_id: str, purpose: Purpose, clock: Clock) -> Job:
    """Return a job on a document.

    It runs for the operator, so that it still runs if the admin who asked for it loses their permissions.
    """
    return Job(
        org=scope.org,
        owner=OPERATOR,
        actor=OPERATOR,
        purpose=purpose,
        permission_version=0,
        created_at=clock(),
        document=document_id,
    )


@contextmanager
def document_lease(store: DocumentStore, scope: Scope, document_id: str, clock: Clock) -> Iterator[None]:
    """Hold the work lease of a document within a `with` block.

    Raises:
        FencepostError: `document_busy`; another worker holds it.
    """
    lease = new_lease(clock())
    if not store.begin(scope, document_id, lease):
        raise FencepostError(ErrorCode.DOCUMENT_BUSY)
    try:
        yield
    finally:
        # A lease that is not released expires.
        with suppress(FencepostError):
            store.end(scope, document_id, lease)


def store_change(store: DocumentStore, scope: Scope, before: Document, after: Document, clock: Clock) -> Document:
    """Store a changed document with the time of the change, and return it.

    Raises:
        FencepostError: `document_busy`; the stored document is not `before` any more.
    """
    dated = replace(after, updated_at=clock())
    if not store.change(scope, before, dated):
        raise FencepostError(ErrorCode.DOCUMENT_BUSY)
    return dated
