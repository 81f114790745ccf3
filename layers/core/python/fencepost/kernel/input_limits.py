"""Limits of client input, shared by schemas and error messages."""

from __future__ import annotations

from typing import Final

MAX_MESSAGE_CHARACTERS = 4_000
"""Unicode code points of a message, after trimming."""
MAX_HISTORY_ENTRIES = 50
MAX_HISTORY_CHARACTERS = 8_192
"""Unicode code points of a history entry, except signed answers."""
MAX_SIGNED_CHARACTERS = 131_072
"""Unicode code points of a signed answer: 32,000 tokens, the highest limit, of about four characters each."""
MAX_MINUTES: Final = 60
"""Longest duration of a diagnosis."""
MIN_REASON_CHARACTERS: Final = 10
MAX_REASON_CHARACTERS: Final = 500
