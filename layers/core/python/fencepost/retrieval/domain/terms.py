"""The terms that a lexical index is made of: words, and character bigrams where a script has no spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

# Scripts written without spaces between words, and Korean, whose particles cling to them.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
)
_RUN = re.compile(f"([{_SPACELESS}]+)|([^\\W_{_SPACELESS}]+)")


def terms(text: str) -> Iterator[str]:
    """Yield words, casefolded, and character bigrams of scripts without spaces. Terms hold letters and digits alone."""
    for spaceless, word in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
        if len(spaceless) > 1:
            yield from map("".join, pairwise(spaceless))
        else:
            yield spaceless or word
