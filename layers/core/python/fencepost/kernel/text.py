"""Normalise, compare and classify text that users and documents contain.

- `normalise` and `legible` return text for storage and for the model. They keep all visible characters, and the
  invisible joiners that scripts and emoji need.
- `visible`, `fold` and `squeeze` return text for pattern matching only: without hidden characters, accents, case,
  look-alike letters or emphasis. Their results are never stored, shown or sent to the model.
- `language_of` returns the language that a text's script implies.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Default_Ignorable_Code_Point (Unicode 16, DerivedCoreProperties) with invisible format and control characters, without
# tab and line feed: zero-width, bidi, filler, variation and tag characters.
_INVISIBLE = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_EMOJI = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
# Arabic with its extensions, and the Indic blocks from Devanagari to Sinhala, where ZWNJ and ZWJ are part of words.
_JOINING = "\u0620-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff"
_WANTED = (
    f"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    f"|(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_EMOJI}])\ufe0f"
    "|(?<=[#*0-9])\ufe0f(?=\u20e3)"
    # The three flags that Unicode recommends for interchange: England, Scotland, Wales.
    "|(?<=\U0001f3f4)\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_UNWANTED = re.compile(f"({_WANTED})|[{_INVISIBLE}]")
_UNSEEN = re.compile(f"[{_INVISIBLE}]+")
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# Fast path: most texts contain only these characters, which one match verifies.
_PLAIN = re.compile(
    "[\t\n -~\u00a0-\u00ac\u00ae-\u034e\u0370-\u061b\u061d-\u115e\u1161-\u17b3\u17b6-\u180a\u1810-\u200a"
    "\u2010-\u2027\u2030-\u205e\u20a0-\u2fff\u3001-\u3130\u3190-\ud7a3\uf900-\ufaff\uff01-\uff9f"
    "\U0001f300-\U0001faff]*+"
)
_SHOWN = re.compile(f"{_PLAIN.pattern[:-3]}\u3131-\u3163\u3165-\u318e]*+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_WIDE = tuple(zip("，？！：；（）", ",?!:;()", strict=True))
# Koreans type single letters (ㅋㅋ, ㅠㅠ). NFKC would turn them into conjoining letters, which fonts show badly.
_BETWEEN_JAMO = re.compile("[^\u3131-\u318e]+")

# Letters that NFKC does not map to ASCII: tags, and negative circled, negative squared and regional capitals.
_HIDDEN_LETTERS = (
    {0xE0000 + code: code for code in (0x0A, *range(0x20, 0x7F))}
    | {first + place: ord("a") + place for first in (0x1F150, 0x1F170, 0x1F1E6) for place in range(26)}
)  # fmt: skip
_HIDING = re.compile("[\U0001f150-\U0001f189\U0001f1e6-\U0001f1ff]+|[\U000e000a\U000e0020-\U000e007e]+")
# Scripts with accents and look-alikes: all alphabetic ones except those of East Asia, which `fold` leaves unchanged. A
# run includes the characters between such letters, so that a text consists of few runs.
_ALPHABETIC = re.compile("[\u00c0-\u10ff\u13a0-\u1fff\u20d0-\u20ff\u2c60-\u2cff\ua640-\ua7ff\uab30-\uabbf]")
_RUN = re.compile(f"{_ALPHABETIC.pattern}[\\x00-\\x7f{_ALPHABETIC.pattern[1:]}*+")
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+")
_INITIAL = re.compile("[\u1100-\u1112]")
_LOOSE_FINAL = re.compile("([가-힣])([\u1100-\u1112])(?![\u1161-\u1175])")
# Index of the final consonant for each initial one, in the order of U+1100…; three of them cannot be final.
_FINALS = (1, 2, 4, 7, 0, 8, 16, 17, 0, 19, 20, 21, 22, 0, 23, 24, 25, 26, 27)
_SYLLABLES_PER_VOWEL = 28
_QUOTES = "\"'`*“”‘’«»‹›„‚「」『』《》"
_SAMPLE_CHARACTERS: Final = 20_000
_MIN_SHARE: Final = 0.1
# Each script but Han is that of one language here. The order matters: Japanese texts contain Han, too.
_SCRIPTS: Final = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("th", re.compile("[\u0e01-\u0e5b]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
)
_LETTER: Final = re.compile(r"[^\W\d_]")
_LOOKALIKES = {
    "a": "ɑΑαАаᎪᴀ",
    "b": "ƄʙΒВЬвьᏏᏴꞴ",
    "c": "ςΣСсᏟᴄⲤⲥꮯ",
    "d": "ԀԁᎠᏧᴅ",
    "e": "ΕεЄЕеєҼҽᎬᴇꬲ",
    "f": "ϜքẝꜰꞘꞙꬵ",
    "g": "ƍɡɢԌԍցᏀᏳᶃ",
    "h": "ʜΗНнҺһհᎻᏂⲎ",
    "i": "ıƖǀɩɪʟΙιІіӀӏᎥᏞⲒⳐꙆꙇꭵ",
    "j": "ͿϳЈјᎫᴊꞲ",
    "k": "ΚκКкᏦᴋⲔ",
    "m": "ΜϺМмᎷᴍⲘ",
    "n": "ɴΝηոռⲚ",
    "o": "ΟοσОоՕօᴏᴑⲞⲟꬽ",
    "p": "ΡρРрᏢᴘⲢⲣ",
    "q": "Ԛԛգզ",
    "r": "ƦʀГгᎡᏒᴦⲅꭇꭈꮁ",
    "s": "ƽЅѕՏᏕᏚꜱꮪ",
    "t": "ΤτТтᎢᴛⲦ",
    "u": "ʋυՍսᴜꞟꭎꭒ",
    "v": "νѴѵᏙᴠꮩ",
    "w": "ɯωѠѡԜԝաᎳᏔᴡꮃ",
    "x": "ΧχХхⲬꞳ",
    "y": "ɣʏΥγУуҮүᎩᎽᶌỿⲨꭚ",
    "z": "ΖᏃᴢꮓ",
}

LATIN_SKELETON = {ord(look): latin for latin, looks in _LOOKALIKES.items() for look in looks}
"""Table for `str.translate` from look-alikes to small Latin letters. `fold` replaces `l` by `i` itself."""


class _Skeletons(dict[int, str]):
    """Replacement of each letter for comparison, computed at its first use."""

    def __missing__(self, code: int) -> str:
        bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", chr(code)))
        self[code] = skeleton = unicodedata.normalize("NFC", bare).translate(LATIN_SKELETON)
        return skeleton


# Up to this number of different letters, replacing them one by one is faster than `translate`.
_ALPHABET = 90
_SKELETONS = _Skeletons((code, chr(code)) for code in range(0x80))


def normalise(text: str) -> str:
    r"""Return the form of a text that is stored and sent to the model.

    Applies NFKC, except to Hangul compatibility jamo. Line ends become `\n`, and lone surrogates U+FFFD. Invisible
    characters are removed: controls, zero-width and bidi characters, fillers, variation selectors and tags. Those that
    are part of a spelling are kept: ZWNJ and ZWJ between letters of Arabic and Indic scripts, ZWJ and U+FE0F in emoji,
    keycaps, and the tags of the three sub-national flags.

    Idempotent; never raises.
    """
    if _PLAIN.fullmatch(text):
        return _unify(text)
    readable = _SURROGATES.sub("\ufffd", _LINE_ENDS.sub("\n", text))
    # Composing can separate an emoji from its selector (™ becomes TM); stripping can join an accent to its letter.
    return _compose(_strip(_compose(_strip(readable))))


def legible(text: str) -> str:
    r"""Return the form of a document's text that is stored: as `normalise`, but with NFC instead of NFKC.

    Compatibility characters are kept, since `x²` in a formula is not `x2`, and code must not change.
    """
    return unicodedata.normalize("NFC", _strip(_SURROGATES.sub("\ufffd", _LINE_ENDS.sub("\n", text))))


def visible(text: str) -> str:
    """Return the text in NFKC without invisible characters, and with hidden letters, such as tags, as ASCII."""
    if _SHOWN.fullmatch(text):
        return _unify(text)
    spoken = _HIDING.sub(lambda match: f"\n{match[0].translate(_HIDDEN_LETTERS)}\n", text)
    return _unify(_UNSEEN.sub("", spoken))


def fold(text: str) -> str:
    """Fold letters for comparison: removes accents, case and look-alikes, and joins Hangul letters to syllables.

    Patterns are folded by the same function, so they can be written as ordinary text. Special characters of regular
    expressions are left unchanged, provided that the expression's escapes are lower-case.
    """
    if not text.isascii():
        if _ALPHABETIC.search(text):
            text = _RUN.sub(_to_latin, text)
        if _INITIAL.search(text):
            text = _LOOSE_FINAL.sub(_close_syllable, unicodedata.normalize("NFC", text))
    return text.casefold().replace("l", "i")


def squeeze(text: str) -> str:
    r"""Remove quotation marks and emphasis, and replace each run of whitespace by a space, or by `\n` across lines."""
    for mark in _QUOTES:
        text = text.replace(mark, "")
    if text.isprintable() and "  " not in text:
        return text.strip()
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _to_latin(run: re.Match[str]) -> str:
    text = run[0]
    letters = set(text)
    if len(letters) > _ALPHABET:
        return text.translate(_SKELETONS)
    for letter in letters:
        text = text.replace(letter, _SKELETONS[ord(letter)])
    return text


def _unify(text: str) -> str:
    if text.isascii():
        return text
    # NFKC is far faster on texts that it does not change, and most East Asian texts have no other wide characters.
    for wide, narrow in _WIDE:
        text = text.replace(wide, narrow)
    return unicodedata.normalize("NFKC", text)


def _strip(text: str) -> str:
    return _UNWANTED.sub(lambda match: match[1] or "", text) if _UNSEEN.search(text) else text


def _compose(text: str) -> str:
    return _BETWEEN_JAMO.sub(lambda match: _unify(match[0]), text)


def _close_syllable(match: re.Match[str]) -> str:
    open_syllable = (ord(match[1]) - ord("가")) % _SYLLABLES_PER_VOWEL == 0
    final = _FINALS[ord(match[2]) - 0x1100]
    return chr(ord(match[1]) + final) if open_syllable and final else match[0]


def language_of(text: str) -> str:
    """Return the language (BCP 47) implied by a tenth of the letters at the beginning of a text; empty if unknown."""
    start = text[:_SAMPLE_CHARACTERS]
    letters = sum(1 for _ in _LETTER.finditer(start))
    for language, script in _SCRIPTS:
        if letters and sum(1 for _ in script.finditer(start)) >= _MIN_SHARE * letters:
            return language
    return ""
