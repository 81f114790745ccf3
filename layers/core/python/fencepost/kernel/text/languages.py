"""The language of a text, where its script alone tells it."""

from __future__ import annotations

import re
from typing import Final

_LOOKED_AT: Final = 20_000
_LEAST_SHARE: Final = 0.1
# Kana and hangul are written in one language each; Han alone is Chinese. An order: Japanese is full of Han as well.
_SCRIPTS: Final = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("th", re.compile("[\u0e01-\u0e5b]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
)
_LETTER: Final = re.compile(r"[^\W\d_]")


def language_of(text: str) -> str:
    """Return the language (BCP 47) whose script a tenth of a text's first letters are in; empty where none is."""
    start = text[:_LOOKED_AT]
    letters = sum(1 for _ in _LETTER.finditer(start))
    for language, script in _SCRIPTS:
        if letters and sum(1 for _ in script.finditer(start)) >= _LEAST_SHARE * letters:
            return language
    return ""
