"""Lifecycle of stored data: export, import, erasure, archiving, retention, carried summaries, diagnosis.

    domain/        bundles, receipts, diagnoses, personal data
    ports.py       stores of archives, imports, carried summaries and diagnoses; the eraser
    service/       one use case a file
    rows.py        rows of diagnoses and looks
    dynamodb/      the stores; the erasure scan and its removals
    routes/        exports, imports, erasures, carry, diagnostics

Tests: `tests/unit/lifecycle`, `tests/integration`.
"""
