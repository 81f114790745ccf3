"""Jobs: what they are called, their records and leases, and how they reach the queue.

    domain.py      purposes, jobs, work leases, job records
    ports.py       the queue, its retries, the store of records
    service.py     new records; one worker at a time
    dynamodb.py    records and leases as rows
    sqs/           the queue itself

A job carries organisation, conversation, actor, purpose and permission version, and is authorised again when it runs
(`fencepost.jobs`). Tests: `tests/unit/queue`.
"""
