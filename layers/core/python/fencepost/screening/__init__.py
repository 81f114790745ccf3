"""A cheap filter for texts that plainly try to turn the assistant against its owner.

    domain/        views of a text, decoding, the table of patterns by language

It reads comparison forms of a text; what is stored, sent and shown is never taken from them.
Tests: `tests/unit/screening`.
"""
