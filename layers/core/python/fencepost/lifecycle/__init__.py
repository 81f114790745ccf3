"""The life of stored data: export, import, erasure, archiving, retention, carrying over, diagnosis.

    domain/        bundles, receipts, diagnoses, personal data
    ports.py       stores of each of these
    service/       one use case a file
    dynamodb/      the stores, the erasure scan
    routes/        exports, imports, erasures, carry, diagnostics

Tests: `tests/unit/lifecycle`, `tests/integration`.
"""
