"""Records of jobs, and leases of the work that follows an answer, in the conversations' table."""

from __future__ import annotations

from typing import override

from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.expressions import any_of
from fencepost.kernel.aws.rows import Key, attribute, from_item, number, to_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Refused, Table
from fencepost.kernel.aws.transactions import Write
from fencepost.kernel.clock import utc_now
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.queue import rows as queue_rows
from fencepost.queue.domain import Job, JobRecord, JobState, Purpose, WorkLease
from fencepost.queue.ports import JobStore
from fencepost.queue.rows import RECORDS_KEPT, JobConversationRow, JobRecordRow, WorkRow


class DynamoDbJobStore(JobStore):
    """Implements `fencepost.queue.ports.JobStore`.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client; called at the first use.
        clock: dates changes of records.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client, clock: Clock = utc_now) -> None:
        self._table = Table(table, client)
        self._clock = clock

    @override
    def queue(self, scope: Scope, record: JobRecord) -> None:
        expiry = attribute(round((record.created_at + RECORDS_KEPT).timestamp()))
        item = to_item(record) | queue_rows.job_row(scope, record.id) | {"expires_at": expiry}
        # A refusal says that the record is stored already, which is what the caller wants.
        self._table.put(item, condition=JobRecordRow.pk.does_not_exist())

    @override
    def job(self, scope: Scope, job_id: str) -> JobRecord | None:
        item = self._table.get(queue_rows.job_row(scope, job_id))
        return from_item(JobRecord, item) if item else None

    @override
    def advance(
        self, scope: Scope, job_id: str, state: JobState, *, progress: dict[str, int], error: str | None = None
    ) -> bool:
        answer = self._table.update(
            queue_rows.job_row(scope, job_id),
            JobRecordRow.state.set(state),
            JobRecordRow.progress.set(attribute(progress)),
            JobRecordRow.updated_at.set(self._clock()),
            JobRecordRow.error.set(attribute(error)),
            condition=JobRecordRow.pk.exists(),
        )
        return not isinstance(answer, Refused)

    @override
    def begin(self, scope: Scope, job: Job, lease: WorkLease) -> int | None:
        """No lease is written for a conversation that was removed."""
        if not job.conversation:
            return None
        key = queue_rows.work_row(scope, job.conversation, job.purpose)
        # A job without an incarnation is compared as null, which equals no conversation's.
        same = JobConversationRow.incarnation == attribute(job.incarnation)
        writes = {
            "conversation": self._table.check_write(keys.conversation_row(scope, job.conversation), same),
            "work": self._acquire(key, job, lease),
        }
        cancelled = self._table.transact_with_retry(writes)
        if cancelled and "conversation" in cancelled.met:
            return None
        if cancelled:
            raise FencepostError(ErrorCode.CONVERSATION_BUSY)
        return number(self._table.get(key) or {}, "through")

    @override
    def end(self, scope: Scope, job: Job, lease: WorkLease, through: int) -> None:
        if not job.conversation:
            return
        # A refusal says that the lease is lost, and with it the right to note progress.
        self._table.update(
            queue_rows.work_row(scope, job.conversation, job.purpose),
            WorkRow.through.set(through),
            WorkRow.holder.remove(),
            WorkRow.until.remove(),
            condition=WorkRow.holder == lease.holder,
        )

    def _acquire(self, key: Key, job: Job, lease: WorkLease) -> Write:
        """Return the write that takes a lease which is free, held by the same worker, or past its end."""
        # Conversations are listed before the first of their chunks can reach the vector index.
        listing = [WorkRow.remembered.set(keys.organisation(job.org))] if job.purpose is Purpose.REMEMBER else []
        is_free = any_of(WorkRow.holder.does_not_exist(), WorkRow.holder == lease.holder, WorkRow.until <= lease.now)
        return self._table.update_write(
            key, WorkRow.holder.set(lease.holder), WorkRow.until.set(lease.until), *listing, condition=is_free
        )
