"""Events, metrics, traces, audit and pseudonyms: what operators see, without anybody's words.

    domain/        the closed table of events, and the pseudonyms they use
    ports.py       where events and audit records go
    service/       the trace of one request; pseudonymous subjects
    powertools/    events as JSON log lines and CloudWatch metrics
    dynamodb.py    the audit trail

Tests: `tests/unit/observability`.
"""
