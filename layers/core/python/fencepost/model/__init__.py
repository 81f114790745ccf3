"""Paid model calls: prompts as values, token counts, billing around a call, Anthropic's API.

    domain/        prompts, token counts, failures, deadlines
    ports.py       the model
    service/       a permit before each call, and its settlement afterwards
    anthropic/     the adapter on the official SDK

Tests: `tests/unit/model`.
"""
