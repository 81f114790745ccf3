"""Memory beside a conversation's own messages: facts, rolling summaries, and messages of other conversations.

    domain/        facts, summaries, message chunks
    ports.py       the stores of facts, summaries and chunks
    service/       use cases and background jobs
    rows.py        rows of facts, summaries and message chunks
    dynamodb/      the stores
    routes.py      `/v1/facts`

Tests: `tests/unit/memory`.
"""
