"""The system prompt's version names its text."""

from __future__ import annotations

import hashlib

from fencepost.domain.system_prompt import (
    NO_SECTIONS,
    STORED_TURNS,
    SYSTEM_PROMPT,
    UNVERIFIED_MARK,
    VERSION,
    product_rules,
)

TEXTS = {"3": "69d6079e69df8c1e5f6eaedecd4da0dc2d95bbee49c17ccc4be45cc5249c1cd6"}
"""SHA-256 of each version's text. A changed text needs a new version, and with it a new row."""


def test_a_changed_text_has_a_new_version() -> None:
    text = "\n".join((SYSTEM_PROMPT, STORED_TURNS, product_rules("…"), UNVERIFIED_MARK, NO_SECTIONS))
    assert hashlib.sha256(text.encode()).hexdigest() == TEXTS[VERSION]
