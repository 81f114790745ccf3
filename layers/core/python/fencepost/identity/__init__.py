"""Callers, permissions, organisations and sites.

Promise (`domain/scope.py`): only `authorize()` creates a `Scope`, from the caller's current membership, and every key
in `rows.py` begins with the scope's organisation.

    domain/        callers, scopes, grants on documents; organisations, sites, origins
    ports.py       the directory of organisations, sites and memberships
    service.py     the site that a caller chats on
    rows.py        overview of the tables; row models and keys of the directory
    dynamodb/      the directory

Tests: `tests/unit/identity`, `tests/integration/test_directory.py`.
"""
