"""Normalisation and folding: which characters are kept and removed, for any string."""

from __future__ import annotations

import unicodedata
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fencepost.kernel.text import fold, normalise, squeeze, visible

CODE_POINTS = st.integers(0, 0x10FFFF).map(chr)
ODD = st.sampled_from(
    "\u200b\u200c\u200d\ufe0f\u0301\u3164\u1100\u1161\u11a8\u3131ㅋ가™Ⓜ👩🏴\U000e0067\u202e\ud800aé\r\n\t 1\u20e3"
)
STRINGS = st.lists(st.one_of(CODE_POINTS, ODD), max_size=60).map("".join)
HANGUL_LETTERS = range(0x3131, 0x318F)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text\n\twith a tab", "plain text\n\twith a tab"),
        ("ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("ﾊﾝｶｸ ｶﾞ", "ハンカク ガ"),
        ("e\u0301", "é"),
        ("한글", "한글"),
        ("no\u00a0break", "no break"),
    ],
)
def test_composes_compatibility_forms(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    "invisible",
    [
        *("\u200b", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u202e", "\u2067", "\u3164", "\u115f", "\u180e"),
        *("\u034f", "\x00", "\x07", "\x1b", "\x7f", "\x9b", "\U000e0041", "\U000e0100", "\ufe0f", "\ufff9"),
    ],
    ids=lambda character: f"U+{ord(character):04X}",
)
def test_drops_what_nobody_can_see(invisible: str) -> None:
    assert normalise(f"pass{invisible}word") == "password"


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",  # Persian “I want”: without ZWNJ it is misspelt.
        "क्\u200dष",  # Devanagari half form.
        "ක්\u200dෂ",  # Sinhala.
        "👩\u200d💻",
        "👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥",
        "1\ufe0f\u20e3",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    ],
    ids=ascii,
)
def test_keeps_joiners_and_selectors_that_spell_something(text: str) -> None:
    assert normalise(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ig\u200cnore", "ignore"),
        ("ig\u200dnore", "ignore"),
        ("a\ufe0fb", "ab"),
        ("™\ufe0f", "TM"),
        ("🏴\U000e0069\U000e0067\U000e006e", "🏴"),
        ("指\u200d示", "指示"),
    ],
    ids=ascii,
)
def test_drops_joiners_and_tags_elsewhere(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"], ids=ascii)
def test_unifies_line_ends(line_end: str) -> None:
    assert normalise(f"one{line_end}two") == "one\ntwo"


def test_keeps_the_letters_that_koreans_type_alone() -> None:
    assert normalise("ㅋㅋㅋ 진짜요 ㅠㅠ") == "ㅋㅋㅋ 진짜요 ㅠㅠ"


def test_replaces_lone_surrogates() -> None:
    assert normalise("a\ud83db") == "a\ufffdb"


@given(STRINGS)
@example("e\u200b\u0301")
@example("Ⓜ\ufe0f\u0301")
@example("\u0cc6\u200d\u0cc2")
def test_normalising_is_idempotent(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(STRINGS)
def test_the_result_can_be_stored(text: str) -> None:
    result = normalise(text)
    result.encode()
    assert not any(unicodedata.category(character) == "Cc" for character in result if character not in "\n\t")
    parts = "".join("\n" if ord(character) in HANGUL_LETTERS else character for character in result)
    assert all(unicodedata.is_normalized("NFKC", part) for part in parts.split("\n"))


@given(st.integers(0))
def test_no_string_of_full_length_makes_it_raise(seed: int) -> None:
    random = Random(seed)
    text = "".join(chr(random.randrange(0x110000)) for _ in range(4_000))
    squeeze(fold(visible(text)))
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_printable_ascii_is_left_alone(text: str) -> None:
    assert normalise(text) == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Ignore", "ignore"),
        ("ïgnörê", "ignore"),
        ("i\u0335g\u0335n\u0335ore", "ignore"),
        ("іgnоrе", "ignore"),
        ("ιgηοrε", "ignore"),
        ("Ignore aII", "ignore all"),
        ("straße", "strasse"),
        ("ㅈㅣㅅㅣ ㅁㅜㅅㅣ", "지시 무시"),
        ("ㅇㅣㅈㅓㄴ", "이전"),
        ("ガード", "ガード"),
    ],
)
def test_folds_look_alikes_together(text: str, plain: str) -> None:
    assert fold(visible(text)) == fold(plain)


def test_russian_stays_consistent_with_itself() -> None:
    assert fold("ПРАВИЛА") == fold("правила")


def test_shows_what_tags_and_dark_letters_say() -> None:
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "hi you")
    assert squeeze(visible(f"Hello{tags}")) == "Hello\nhi you"
    assert squeeze(visible("🅷🅸")) == "hi"


def test_squeezes_spaces_and_drops_emphasis() -> None:
    assert squeeze("  “all”  *of*\tit \n\n `now` ") == "all of it\nnow"
