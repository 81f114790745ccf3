"""The system prompt's version names its text."""

from __future__ import annotations

import hashlib

from fencepost.domain.system_prompt import NO_SECTIONS, SYSTEM_PROMPT, UNVERIFIED_MARK, VERSION

TEXTS = {"1": "9a193fc495e225bc9a663254bdb16c0732a5f988733eb4eda3c67cb4b310666e"}
"""SHA-256 of each version's text. A changed text needs a new version, and with it a new row."""


def test_a_changed_text_has_a_new_version() -> None:
    text = "\n".join((SYSTEM_PROMPT, UNVERIFIED_MARK, NO_SECTIONS))
    assert hashlib.sha256(text.encode()).hexdigest() == TEXTS[VERSION]
