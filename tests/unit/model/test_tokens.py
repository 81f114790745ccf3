"""Counting tokens: never too few."""

from __future__ import annotations

import os
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.model.domain import BLOCK_TOKENS, REQUEST_TOKENS, TURN_TOKENS, count_tokens

SAMPLES = (
    "Fencepost caps the bill.",
    "日本語のドキュメントを検索します。",
    "한국어 문서를 검색합니다. ㅋㅋ",
    "ﷺ ﷽ ½ ① ﬃ Å 𝒜",
    "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 e\u0301 \u200b\u202e",
    "def f(x):\n\treturn x ** 2  # naïve",
    "zalgo " + "\u0300\u0301\u0302" * 20,
    "",
)


@given(st.text(), st.lists(st.integers(0, 200), max_size=20))
def test_no_cut_of_the_bytes_has_more_pieces_than_counted(text: str, cuts: list[int]) -> None:
    for form in ("NFC", "NFKC"):
        data = unicodedata.normalize(form, text).encode("utf-8", "surrogatepass")
        edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
        assert len(edges) - 1 <= count_tokens(text)
        assert len(data) <= count_tokens(text)


@given(st.text(), st.text())
def test_parts_that_begin_in_ascii_add_up_to_a_bound_of_the_whole(first: str, second: str) -> None:
    parts = [f"<{first}\n", f"<{second}\n"]
    assert count_tokens("".join(parts)) <= sum(map(count_tokens, parts))


@given(st.text(), st.text(st.characters(codec="ascii")))
def test_more_text_never_counts_less(text: str, more: str) -> None:
    assert count_tokens(text + more) >= count_tokens(text)


def test_a_tokeniser_that_normalises_first_is_covered() -> None:
    assert count_tokens("\ufdfa") == len("صلى الله عليه وسلم".encode())


@pytest.mark.skipif(
    not os.environ.get("ANTHROPIC_API_KEY") or bool(os.environ.get("ANTHROPIC_BASE_URL")),
    reason="needs the provider itself: set ANTHROPIC_API_KEY, and no other base URL",
)
@pytest.mark.parametrize("text", SAMPLES[:-1])
def test_the_provider_never_counts_more(text: str) -> None:
    import anthropic

    model = os.environ.get("FENCEPOST_MODEL", "claude-haiku-5-5")
    answer = anthropic.Anthropic(max_retries=0).messages.create(
        model=model, max_tokens=1, system=text, messages=[{"role": "user", "content": text}]
    )
    bound = REQUEST_TOKENS + TURN_TOKENS + 2 * (BLOCK_TOKENS + count_tokens(text))
    assert answer.usage.input_tokens <= bound
