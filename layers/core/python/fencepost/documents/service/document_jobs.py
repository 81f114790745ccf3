"""Work on one document: how it is asked for, that one worker does it at a time, and how it changes the document."""

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
    """Return a job about a document. It is the operator's: what was asked for goes on whatever becomes of the admin."""
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
def working(store: DocumentStore, scope: Scope, document_id: str, clock: Clock) -> Iterator[None]:
    """Hold the lease of work on a document meanwhile.

    Raises:
        FencepostError: `document_busy`; another worker has it.
    """
    lease = new_lease(clock())
    if not store.begin(scope, document_id, lease):
        raise FencepostError(ErrorCode.DOCUMENT_BUSY)
    try:
        yield
    finally:
        # A lease that is not given back ends by itself.
        with suppress(FencepostError):
            store.end(scope, document_id, lease)


def changed(store: DocumentStore, scope: Scope, before: Document, after: Document, clock: Clock) -> Document:
    """Write a document's row in place of what it was, and return it with the time of its change.

    Raises:
        FencepostError: `document_busy`; it is not what it was any more.
    """
    dated = replace(after, updated_at=clock())
    if not store.change(scope, before, dated):
        raise FencepostError(ErrorCode.DOCUMENT_BUSY)
    return dated
