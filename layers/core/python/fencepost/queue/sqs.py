"""The job queue on SQS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache
from itertools import batched
from typing import TYPE_CHECKING, override

from pydantic import TypeAdapter

from fencepost.kernel.aws.session import aws_errors
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.domain import DELAYS, Job
from fencepost.queue.ports import JobQueue, RetryQueue

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef


_BATCH = 10  # Limit of `SendMessageBatch`.
_CONNECT_TIMEOUT_SECONDS = 1
_READ_TIMEOUT_SECONDS = 5


@cache
def sqs_client() -> SQSClient:
    """Return the client of the process. It imports the SDK, so it is called at the first use."""
    from boto3.session import Session
    from botocore.config import Config

    config = Config(connect_timeout=_CONNECT_TIMEOUT_SECONDS, read_timeout=_READ_TIMEOUT_SECONDS)
    return Session().client("sqs", config=config)


class SqsJobQueue(JobQueue):
    """Implements `fencepost.queue.ports.JobQueue`.

    Args:
        url: URL of the queue.
        client: makes or returns the client; called at the first use.
    """

    def __init__(self, url: str, client: Callable[[], SQSClient] = sqs_client) -> None:
        self._url = url
        self._client = client

    @override
    def send(self, jobs: Sequence[Job]) -> None:
        for some in batched(jobs, _BATCH, strict=False):
            self._send(some)

    def _send(self, jobs: Sequence[Job]) -> None:
        entries: list[SendMessageBatchRequestEntryTypeDef] = [
            {
                "Id": str(index),
                "MessageBody": message(job),
                "DelaySeconds": int(DELAYS.get(job.purpose, timedelta()).total_seconds()),
            }
            for index, job in enumerate(jobs)
        ]
        try:
            response = self._client().send_message_batch(QueueUrl=self._url, Entries=entries)
        except aws_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        if response.get("Failed"):
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)


def message(job: Job) -> str:
    """Return the body of a job's message, in JSON."""
    return _adapter().dump_json(job).decode()


@cache
def _adapter() -> TypeAdapter[Job]:
    return TypeAdapter(Job)


class SqsRetryQueue(RetryQueue):
    """Implements `fencepost.queue.ports.RetryQueue`.

    Args:
        url: URL of the queue.
        client: makes or returns the client; called at the first use.
    """

    def __init__(self, url: str, client: Callable[[], SQSClient] = sqs_client) -> None:
        self._url = url
        self._client = client

    @override
    def retry(self, receipt: str, delay: timedelta) -> None:
        seconds = int(delay.total_seconds())
        try:
            self._client().change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt, VisibilityTimeout=seconds
            )
        except aws_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
