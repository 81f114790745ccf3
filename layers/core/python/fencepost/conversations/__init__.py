"""Conversations and their messages: reading, renaming, rating, attachments, archived blocks.

    domain/        messages, questions, archive blocks, attachments, titles
    ports.py       the stores of conversations and attachments
    service/       reading and changing them outside of turns
    rows/          keys and rows of conversations, messages and blocks
    dynamodb/      the stores
    routes/        `/v1/conversations`, `/v1/messages`, `/v1/attachments`

Tests: `tests/unit/conversations`, `tests/integration`.
"""
