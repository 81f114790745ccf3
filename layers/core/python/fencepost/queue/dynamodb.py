"""Records of jobs, and leases of the work that follows an answer."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, override

from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import ClientFactory, Refused, dynamodb_client, number, store_errors, update
from fencepost.kernel.aws.legacy.reading import get_row, utc_now
from fencepost.kernel.aws.legacy.rows import attribute, from_item, timestamp, to_item
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.queue import rows as queue_rows
from fencepost.queue.domain import Job, JobRecord, JobState, Purpose, WorkLease
from fencepost.queue.ports import JobStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

RECORDS_KEPT = timedelta(days=30)
"""Longer than a job waits in the queue (4 days) and among the dead letters (14 days)."""
_LISTED = f", {keys.REMEMBERED} = :listed"


class DynamoDbJobStore(JobStore):
    """Implements `fencepost.queue.ports.JobStore`.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client, at the first use.
        clock: dates changes of records.
    """

    def __init__(
        self,
        table: str,
        client: ClientFactory = dynamodb_client,
        clock: Clock = utc_now,
    ) -> None:
        self._table = table
        self._client = client
        self._clock = clock

    @override
    def queue(self, scope: Scope, record: JobRecord) -> None:
        client, kept_until = self._client(), record.created_at + RECORDS_KEPT
        item = (
            to_item(record)
            | queue_rows.job_row(scope, record.id)
            | {"expires_at": {"N": f"{kept_until.timestamp():.0f}"}}
        )
        try:
            client.put_item(TableName=self._table, Item=item, ConditionExpression="attribute_not_exists(pk)")
        except client.exceptions.ConditionalCheckFailedException:
            return
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None

    @override
    def job(self, scope: Scope, job_id: str) -> JobRecord | None:
        item = get_row(self._client(), self._table, queue_rows.job_row(scope, job_id))
        return from_item(JobRecord, item) if item else None

    @override
    def advance(
        self, scope: Scope, job_id: str, state: JobState, *, progress: dict[str, int], error: str | None = None
    ) -> bool:
        answer = update(
            self._client(),
            {
                "TableName": self._table,
                "Key": queue_rows.job_row(scope, job_id),
                "UpdateExpression": "SET #state = :state, progress = :progress, updated_at = :now, #error = :error",
                "ConditionExpression": "attribute_exists(pk)",
                "ExpressionAttributeNames": {"#state": "state", "#error": "error"},
                "ExpressionAttributeValues": {
                    ":state": attribute(state),
                    ":progress": attribute(progress),
                    ":now": attribute(timestamp(self._clock())),
                    ":error": attribute(error),
                },
            },
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        )
        return not isinstance(answer, Refused)

    @override
    def begin(self, scope: Scope, job: Job, lease: WorkLease) -> int | None:
        """A conversation that is gone gets no row any more."""
        if not job.conversation:
            return None
        key = queue_rows.work_row(scope, job.conversation, job.purpose)
        actions = {"conversation": self._same(scope, job, job.conversation), "work": self._take(key, job, lease)}
        cancelled = transact_with_retry(self._client(), actions)
        if cancelled and "conversation" in cancelled.met:
            return None
        if cancelled:
            raise FencepostError(ErrorCode.CONVERSATION_BUSY)
        return number(get_row(self._client(), self._table, key) or {}, "through")

    @override
    def end(self, scope: Scope, job: Job, lease: WorkLease, through: int) -> None:
        if not job.conversation:
            return
        update(
            self._client(),
            {
                "TableName": self._table,
                "Key": queue_rows.work_row(scope, job.conversation, job.purpose),
                "UpdateExpression": "SET through = :through REMOVE holder, #until",
                "ConditionExpression": "holder = :holder",
                "ExpressionAttributeNames": {"#until": "until"},
                "ExpressionAttributeValues": {":through": attribute(through), ":holder": attribute(lease.holder)},
            },
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        )

    def _same(self, scope: Scope, job: Job, conversation_id: str) -> TransactWriteItemTypeDef:
        return {
            "ConditionCheck": {
                "TableName": self._table,
                "Key": keys.conversation_row(scope, conversation_id),
                "ConditionExpression": "incarnation = :incarnation",
                "ExpressionAttributeValues": {":incarnation": attribute(job.incarnation)},
            }
        }

    def _take(self, key: aws_keys.Key, job: Job, lease: WorkLease) -> TransactWriteItemTypeDef:
        # Listed from the moment on at which something may come into the vector index.
        lists = job.purpose is Purpose.REMEMBER
        listed = {":listed": attribute(keys.organisation(job.org))} if lists else {}
        return {
            "Update": {
                "TableName": self._table,
                "Key": key,
                "UpdateExpression": f"SET holder = :holder, #until = :until{_LISTED if lists else ''}",
                "ConditionExpression": "attribute_not_exists(holder) OR holder = :holder OR #until <= :now",
                "ExpressionAttributeNames": {"#until": "until"},
                "ExpressionAttributeValues": {
                    ":holder": attribute(lease.holder),
                    ":until": attribute(timestamp(lease.until)),
                    ":now": attribute(timestamp(lease.now)),
                    **listed,
                },
            }
        }
