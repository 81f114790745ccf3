"""When a message of the jobs' queue comes again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, override

from fencepost.kernel.aws.errors import aws_errors
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.ports import RetryQueue
from fencepost.queue.sqs.jobs import sqs_client

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class SqsRetryQueue(RetryQueue):
    """Implements `fencepost.queue.ports.RetryQueue`.

    Args:
        url: the queue's address.
        client: makes or returns the client, at the first use.
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
