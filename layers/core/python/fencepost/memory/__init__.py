"""What is remembered beside the messages: facts, rolling summaries, messages of other conversations.

    domain/        facts, summaries, message chunks
    ports.py       the stores of facts, summaries and chunks
    service/       use cases and background jobs
    rows/          keys and rows
    dynamodb/      the stores
    routes.py      `/v1/facts`

Tests: `tests/unit/memory`.
"""
