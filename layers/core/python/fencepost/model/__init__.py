"""Paid calls of the language model.

The promise: no call without a permit for its worst case, and each permit is settled for the actual cost.

    domain.py      prompts as values, upper bounds of token counts, failed calls
    ports.py       the model
    service.py     `PaidModel`: reserve, call, settle
    anthropic/     the adapter of Anthropic's API, on the official SDK

Tests: `tests/unit/model`.
"""
