"""The schedule function: what is due, without anybody asking."""

from __future__ import annotations

import os

from fencepost.adapters.dynamodb.corpus import DynamoDbAgenda
from fencepost.adapters.sqs import SqsJobQueue
from fencepost.bootstrap.clock import utc_now
from fencepost.bootstrap.stores import stores
from fencepost.edge.events import LambdaEvents, silence_libraries
from fencepost.edge.schedule import Schedule, ScheduleHandler, idle
from fencepost.services.sweep import Sweep
from fencepost.settings import load_settings


def schedule_handler() -> ScheduleHandler:
    """Build the schedule from the environment. Nothing is connected to.

    Raises:
        InvalidSettings: a variable is wrong; the function then does not start.
    """
    settings = load_settings(os.environ)
    silence_libraries()
    if settings.demo_mode or settings.index == "none":
        return idle
    log = LambdaEvents()
    sweep = Sweep(
        agenda=DynamoDbAgenda(settings.corpus_table),
        store=stores(settings, log).corpus,
        queue=SqsJobQueue(settings.jobs_queue),
        clock=utc_now,
    )
    return Schedule(sweep.run, log)
