"""Token counts that never underestimate.

The provider's tokeniser is not public. What can be proved without it: a byte-level byte-pair encoding gives each token
at least one byte of UTF-8 (Sennrich et al. 2016, arXiv:1508.07909; Radford et al. 2019 for the byte level), so a text
has no more tokens than bytes. A tokeniser may first normalise to NFC or NFKC, which can lengthen a text (U+FDFA becomes
18 characters), so the longest of the three forms counts. Real counts are three to four times lower in English: the
bill's cap rests on this bound, so provable beats tight, and settling gives the difference back.
"""

from __future__ import annotations

import unicodedata

REQUEST_TOKENS = 64
"""What a provider may add around a request: start tokens, a preamble."""
TURN_TOKENS = 16
"""What it may add around a message: role markers and separators."""
BLOCK_TOKENS = 8
"""What it may add around each block of text inside the system prompt or a message."""

CHARACTER_TOKENS = 4
"""The most that a character counts in a text that is normalised: UTF-8 has no longer ones."""


def count_tokens(text: str) -> int:
    """Return an upper bound on the tokens of `text`, without framing.

    Bounds of parts add up to a bound of the whole where each part begins with an ASCII character: none of them
    composes with what stands before it.
    """
    if text.isascii():
        return len(text)
    forms = (text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFKC", text))
    return max(len(form.encode("utf-8", "surrogatepass")) for form in forms)
