"""The system prompt's version names its text."""

from __future__ import annotations

import hashlib

from fencepost.turns.domain.system_prompt import (
    NO_SECTIONS,
    STORED_TURNS,
    SYSTEM_PROMPT,
    UNVERIFIED_MARK,
    VERSION,
    product_rules,
)

TEXTS = {"3": "90d80f6bdc676d067c95c9045876f0c7065a25848035526d48accde79b1186dd"}
"""SHA-256 of each version's text. A changed text needs a new version, and with it a new row."""


def test_a_changed_text_has_a_new_version() -> None:
    text = "\n".join((SYSTEM_PROMPT, STORED_TURNS, product_rules("…"), UNVERIFIED_MARK, NO_SECTIONS))
    assert hashlib.sha256(text.encode()).hexdigest() == TEXTS[VERSION]
