"""Background work: the outbox, the job runner, scheduled tasks and repair of the vector index.

    domain/        which jobs a stored change asks for; how index and tables can disagree
    ports.py       the registry of organisations and the reconciler's progress
    service/       the job runner, due documents, the reconciler, removal of orphans, repair of documents
    rows.py        row models of the reconciler
    dynamodb/      the outbox of the conversations' table, the registry, the reconciler's progress
    handlers/      Lambda handlers of queue, stream and schedule

Promise: a job may be delivered twice, late and in any order; each is authorised again when it runs.

Tests: `tests/unit/jobs`, `tests/integration/test_reconcile_stores.py`.
"""
