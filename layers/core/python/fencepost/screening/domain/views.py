"""Readings of a text that are screened, and common encodings. No reading is stored, shown or sent to the model."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from string import ascii_lowercase, ascii_uppercase

from fencepost.kernel.text import fold, squeeze, visible

_SPACED = re.compile(r"[ ._*-]\w([ ._*-])\w\1\w\1")
_LETTER_GAP = re.compile(r"(?<![^\s._*-])(\S)[ ._*-](?=\S(?![^\s._*-]))")
_DIGIT_IN_WORD = re.compile(r"[0134579@$][a-z]")
_INNER_MARK = re.compile("(?<=[a-z])!(?=[a-z])")
_LEET = str.maketrans("01345679@$+|", "oieasgtgasti")
_ROT13 = str.maketrans(
    ascii_lowercase + ascii_uppercase,
    ascii_lowercase[13:] + ascii_lowercase[:13] + ascii_uppercase[13:] + ascii_uppercase[:13],
)
# A text is read backwards or through ROT13 only if it contains one of these words in that form.
_LATIN = ("ignor", "instruc", "prompt", "system", "restric", "rules")
_TELLTALES = (
    *_LATIN,
    *("инструкц", "правил", "指示", "無視", "制限", "モード", "プロンプト", "指令", "忽略", "提示"),
    *("지시", "무시", "규칙", "제한", "모드", "프롬프트"),
)
_BACKWARDS = tuple(fold(word)[::-1] for word in _TELLTALES)
_ROTATED = tuple(fold(word.translate(_ROT13)) for word in _LATIN)


def screening_views(text: str) -> Iterator[str]:
    """Yield the readings of a text in which a phrase could be hidden, the plain one first.

    Each is folded and squeezed. Further readings are made only where the text suggests them: encodings decoded once,
    the text reversed, or in ROT13; and of each reading, spaced-out letters joined, and digits read as letters.
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


_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})++")
_ESCAPE = re.compile(r"\\u\{([0-9A-Fa-f]{1,5})\}|\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})")
# 16 characters of base64 are 12 bytes: shorter payloads cannot say much.
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}){12,}+(?![0-9A-Za-z])")
_SPACED_HEX = re.compile(r"[0-9A-Fa-f]{2}(?:[ :][0-9A-Fa-f]{2}){11,}+")
_BINARY = re.compile(r"[01]{8}(?:[ ,]?[01]{8}){7,}+")
_MORSE = re.compile(r"[.-]{1,5}(?: (?:[/|] )?[.-]{1,5}){11,}+")
_MORSE_SIGNS = (
    ".-|-...|-.-.|-..|.|..-.|--.|....|..|.---|-.-|.-..|--|-.|---|.--.|--.-|.-.|...|-|..-|...-|.--|-..-|-.--|--.."
)
_MORSE_LETTERS = dict(zip(_MORSE_SIGNS.split("|"), ascii_lowercase, strict=True)) | {"/": " ", "|": " "}
_LONG = 16
_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{16}")
_URL_SAFE = str.maketrans("-_", "+/")


def decode(text: str) -> str:
    r"""Decode HTML entities, percent and `\u` escapes, hex, binary, Morse and base64, once and in place.

    Runs that do not decode to readable UTF-8 are unchanged: digests, identifiers, images.
    """
    if "&" in text:
        text = html.unescape(text)
    if "%" in text:
        text = _PERCENT.sub(lambda match: _utf8(match[0].replace("%", ""), match[0]), text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), text)
    text = _undo_signs(text)
    for word in set(text.split()):
        if len(word) >= _LONG and _TOKEN.search(word):
            decoded = _BASE64.sub(_from_base64, _HEX.sub(lambda match: _utf8(match[0], match[0]), word))
            text = text.replace(word, decoded) if decoded != word else text
    return text


def _undo_signs(text: str) -> str:
    # Checking literals first saves the search in most texts: a sentence in such an encoding contains them.
    if any(digit in text for digit in "2689"):
        text = _SPACED_HEX.sub(lambda match: _utf8(re.sub("[ :]", "", match[0]), match[0]), text)
    if "01" in text:
        text = _BINARY.sub(_from_binary, text)
    if ".-" in text or "-." in text:
        text = _MORSE.sub(lambda match: "".join(_MORSE_LETTERS.get(sign, "") for sign in match[0].split()), text)
    return text


def _utf8(digits: str, otherwise: str) -> str:
    try:
        return bytes.fromhex(digits).decode()
    except UnicodeDecodeError:
        return otherwise


def _from_binary(match: re.Match[str]) -> str:
    digits = re.sub("[ ,]", "", match[0])
    return _utf8(f"{int(digits, 2):0{len(digits) // 4}x}", match[0])


def _from_base64(match: re.Match[str]) -> str:
    if match[0].islower():  # Paths and identifiers; base64 of a sentence always has capitals.
        return match[0]
    bare = match[0].rstrip("=").translate(_URL_SAFE)
    try:
        decoded = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True).decode()
    except ValueError:
        return match[0]
    return decoded if decoded.replace("\n", " ").isprintable() else match[0]
