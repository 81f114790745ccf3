"""Who is asking and what they may reach: scopes, callers, members, organisations and sites.

`domain/scope.py` holds the promise: `Scope(org, owner)` can only be made by `authorize()`, from the caller's current
membership, and every key in `rows.py` begins with the scope's organisation.

    domain/        scopes, audiences, sites, origins, scoped caches
    ports.py       the directory of organisations, sites and members
    service.py     which site a caller chats on
    rows.py        partitions and keys of the tables
    dynamodb/      the directory

Tests: `tests/unit/identity`, `tests/integration`.
"""
