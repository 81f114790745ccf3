"""Work on one document: how it is asked for, and that one worker does it at a time."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.jobs import OPERATOR, Job, Purpose, WorkLease
from fencepost.ports import Clock, CorpusStore
from fencepost.services.background import WORK_SECONDS


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
def working(store: CorpusStore, scope: Scope, document_id: str, clock: Clock) -> Iterator[None]:
    """Hold the lease of work on a document meanwhile.

    Raises:
        FencepostError: `document_busy`; another worker has it.
    """
    now = clock()
    lease = WorkLease(secrets.token_urlsafe(12), now, now + timedelta(seconds=WORK_SECONDS))
    if not store.begin(scope, document_id, lease):
        raise FencepostError(ErrorCode.DOCUMENT_BUSY)
    try:
        yield
    finally:
        # A lease that is not given back ends by itself.
        with suppress(FencepostError):
            store.end(scope, document_id, lease)
