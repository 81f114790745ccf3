"""The way from what was stored to the work that follows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from fencepost.domain.jobs import Job


class JobQueue(Protocol):
    """Where jobs wait. It may deliver one twice and in any order, so whoever runs them must not mind."""

    def send(self, jobs: Sequence[Job]) -> None:
        """Put jobs into the queue, all of them; after an error some may be in it.

        Raises:
            FencepostError: `conversations_unavailable`; the queue does not answer or refused a job.
        """
        ...


class RetryQueue(Protocol):
    """The same queue, as whoever runs its jobs sees it."""

    def retry(self, receipt: str, delay: timedelta) -> None:
        """Let a message that was received come again so much later, in whole seconds, unless it is removed before.

        Args:
            receipt: of this one delivery.
            delay: at most twelve hours.

        Raises:
            FencepostError: `conversations_unavailable`; the queue does not answer, or does not know the receipt.
        """
        ...
