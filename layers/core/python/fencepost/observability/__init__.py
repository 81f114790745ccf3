"""Events, metrics, traces, audit and pseudonyms. None of them contains user content.

    domain/        the closed table of events, and the pseudonyms they use
    ports.py       outputs for events and audit records
    service.py     the trace of a request; pseudonymous subjects
    powertools/    events as JSON log lines and CloudWatch metrics
    dynamodb/audit.py    the audit trail

Tests: `tests/unit/observability`.
"""
