"""The ways in which a text may be read. None of them is stored, shown or sent to the model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_lowercase, ascii_uppercase

from fencepost.kernel.text.normal import fold, squeeze, visible
from fencepost.screening.domain.decoding import decode

_SPACED = re.compile(r"[ ._*-]\w([ ._*-])\w\1\w\1")
_LETTER_GAP = re.compile(r"(?<![^\s._*-])(\S)[ ._*-](?=\S(?![^\s._*-]))")
_DIGIT_IN_WORD = re.compile(r"[0134579@$][a-z]")
_INNER_MARK = re.compile("(?<=[a-z])!(?=[a-z])")
_LEET = str.maketrans("01345679@$+|", "oieasgtgasti")
_ROT13 = str.maketrans(
    ascii_lowercase + ascii_uppercase,
    ascii_lowercase[13:] + ascii_lowercase[:13] + ascii_uppercase[13:] + ascii_uppercase[:13],
)
# A text is read backwards or through ROT13 only if one of these words stands in it that way.
_LATIN = ("ignor", "instruc", "prompt", "system", "restric", "rules")
_TELLTALES = (
    *_LATIN,
    *("инструкц", "правил", "指示", "無視", "制限", "モード", "プロンプト", "指令", "忽略", "提示"),
    *("지시", "무시", "규칙", "제한", "모드", "프롬프트"),
)
_BACKWARDS = tuple(fold(word)[::-1] for word in _TELLTALES)
_ROTATED = tuple(fold(word.translate(_ROT13)) for word in _LATIN)


def screening_views(text: str) -> Iterator[str]:
    """Yield the readings of a text in which a phrase could hide, the plain one first.

    Each is folded and squeezed. The others come only if the text gives cause: its encodings undone once, the text
    backwards or in ROT13; and of each reading, letters that were spaced out joined, and digits read as letters.
    """
    shown = visible(text)
    plain = squeeze(fold(shown))
    yield plain
    yield from _respellings(shown, plain)
    for reading in _readings(shown, plain):
        view = squeeze(fold(reading))
        yield view
        yield from _respellings(reading, view)


def _readings(shown: str, plain: str) -> Iterator[str]:
    decoded = decode(shown)
    if decoded != shown:
        yield visible(decoded)
    if any(word in plain for word in _BACKWARDS):
        yield shown[::-1]
    if any(word in plain for word in _ROTATED):
        yield shown.translate(_ROT13)


def _respellings(reading: str, view: str) -> Iterator[str]:
    if _SPACED.search(view):
        view = squeeze(fold(_LETTER_GAP.sub(r"\1", reading)))
        yield view
    if _DIGIT_IN_WORD.search(view):
        yield fold(_INNER_MARK.sub("i", view).translate(_LEET))
