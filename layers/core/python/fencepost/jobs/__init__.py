"""Background work: running jobs, the schedule, and maintenance of the index.

    domain/        the outbox rule, the index diff
    ports.py       the organisation registry and the reconciler's progress
    service/       the runner, due work, the reconciler, orphans, repairs
    dynamodb/      the outbox, the registry
    handlers/      Lambda handlers of queue, stream and schedule

Tests: `tests/unit/jobs`.
"""
