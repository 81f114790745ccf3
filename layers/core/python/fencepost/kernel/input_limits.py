"""Bounds of what a client may send, shared by schemas and error messages."""

from __future__ import annotations

from typing import Final

MAX_MESSAGE_CHARACTERS = 4_000
"""Unicode code points of a message, counted after trimming."""
MAX_HISTORY_ENTRIES = 50
MAX_HISTORY_CHARACTERS = 8_192
"""Unicode code points of one history entry, but for an answer that bears our signature."""
MAX_SIGNED_CHARACTERS = 131_072
"""Unicode code points of a signed answer: 32,000 tokens, the most that can be set, make four characters each."""
MAX_MINUTES: Final = 60
"""How long a diagnosis may last."""
MIN_REASON_CHARACTERS: Final = 10
MAX_REASON_CHARACTERS: Final = 500
