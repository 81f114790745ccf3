"""Jobs, their records and leases, and the queue.

    domain.py      purposes, jobs, work leases, job records
    ports.py       the queue, delays of retries, the store of records and leases
    service.py     new records; the lease of a job's work
    rows.py        row models of records and leases
    dynamodb.py    the store of records and leases
    sqs.py         the queue

A job carries organisation, owner, actor, purpose and permission version, and is authorised again when it runs
(`fencepost.jobs`). Tests: `tests/unit/jobs`, `tests/integration/test_job_store.py`.
"""
