"""What a diagnosis hides, and that no text makes it slow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.lifecycle.domain.personal_data import MASK, mask_personal_data

PERSONAL = {
    "an e-mail address": "jane.o'doe+shop@mail.example.co.uk",
    "an e-mail address in Japanese": "山田@例え.テスト",
    "an international telephone number": "+49 (0)30 1234-5678",
    "a national telephone number": "090-1234-5678",
    "a telephone number in full-width digits": "０９０−１２３４−５６７８".replace("−", "-"),
    "a card": "4111 1111 1111 1111",
    "an account": "DE89 3704 0044 0532 0130 00",
    "an account with letters": "GB82WEST12345698765432",
    "a birthday": "1984-05-23",
    "an order": "order 100234".removeprefix("order "),
    "an IPv4 address": "8.8.8.8",
    "an IPv6 address": "2001:db8::ff00:42:8329",
    "a link with a secret": "https://shop.example/reset?token=abc",
    "a key": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "a token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
    "a handle": "@jane_doe",
}
HARMLESS = [
    "How do I install version 3.2 on Linux?",
    "I waited 20 minutes, twice.",
    "注文をキャンセルするにはどうすればよいですか。",
    "See step 4 of chapter 12 [1].",
    "It costs €1,299 now.",
    "Ratio 3:2, at 12:30.",
]


@pytest.mark.parametrize("kind", PERSONAL)
def test_personal_data_is_hidden_and_its_surroundings_are_not(kind: str) -> None:
    assert mask_personal_data(f"before {PERSONAL[kind]} after") == f"before {MASK} after"


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_sentences_stay_readable(text: str) -> None:
    assert mask_personal_data(text) == text


def test_an_empty_text_stays_empty_and_a_text_of_personal_data_is_the_mask_alone() -> None:
    assert mask_personal_data("") == ""
    assert mask_personal_data("c@d.example") == MASK


@given(st.text(max_size=1_000))
def test_masking_again_changes_nothing(text: str) -> None:
    masked = mask_personal_data(text)
    assert mask_personal_data(masked) == masked


@given(st.sampled_from(sorted(PERSONAL.values())), st.text(alphabet=" \n\t。、«»", max_size=5))
def test_nothing_personal_is_left_between_other_characters(personal: str, gap: str) -> None:
    assert personal not in mask_personal_data(f"{gap} {personal} {gap}")


@pytest.mark.parametrize(
    "unit", ["a", "a.", "1", "1 ", "@", "a@", ":", "f:", "A1", "あ", "www.", "+", "1.1.", "-", "DE12"]
)
def test_a_long_text_of_one_kind_takes_steps_in_proportion_to_its_length(unit: str) -> None:
    # Twice the text must not take four times the matches' work; the run itself would not come back otherwise.
    text = unit * 100_000
    assert isinstance(mask_personal_data(text), str)
