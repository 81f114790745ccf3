"""The one retry policy for DynamoDB: jittered exponential backoff up to a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from random import SystemRandom


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Backoff for what DynamoDB asks to be sent again.

    Each pause is drawn from the upper half of its step, so the deadline also bounds the number of attempts: about
    fifteen within the default two seconds.

    Attributes:
        deadline: seconds from the first attempt after which no other begins.
        first: seconds of the first step; each step is twice the one before.
        longest: seconds of the longest step.
        clock: seconds of a monotonic clock.
        sleep: waits for so many seconds.
        jitter: a number from 0 up to 1.
    """

    deadline: float = 2.0
    first: float = 0.01
    longest: float = 0.32
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    # From the system: instances that were restored from one snapshot share the state of any other generator.
    jitter: Callable[[], float] = SystemRandom().random

    def attempts(self) -> Iterator[int]:
        """Yield the numbers of attempts from 1, with a pause before each but the first, until the deadline.

        Example:
            for attempt in policy.attempts():
                if send(attempt):
                    return
            raise FencepostError(...)
        """
        until, step = self.clock() + self.deadline, self.first
        for attempt in count(1):
            yield attempt
            pause = step * (1 + self.jitter()) / 2
            if self.clock() + pause > until:
                return
            self.sleep(pause)
            step = min(2 * step, self.longest)
