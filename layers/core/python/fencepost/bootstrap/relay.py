"""The relay function: queues the jobs that the conversations table's stream asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from fencepost.jobs.dynamodb.outbox import jobs_of
from fencepost.jobs.handlers.batches import BatchHandler, idle
from fencepost.jobs.handlers.relay import Relay
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.sqs import SqsJobQueue
from fencepost.settings import load_settings


def relay_handler() -> BatchHandler:
    """Build the handler from the environment.

    Raises:
        InvalidSettings: a variable is wrong; the function then does not start.
    """
    settings = load_settings(os.environ)
    silence_libraries()
    if settings.demo_mode:
        return idle
    read_jobs = jobs_of if settings.index != "none" else _jobs_without_index
    return Relay(read_jobs, SqsJobQueue(settings.jobs_queue), LambdaEvents())


def _jobs_without_index(record: Mapping[str, Any]) -> Sequence[Job]:
    return [job for job in jobs_of(record) if job.purpose is not Purpose.REMEMBER]
