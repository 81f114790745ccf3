"""Ranking by full text: in several languages, the same each time, from any thread, whatever the question holds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.sqlite import FullTextRanker
from fencepost.prompting.domain.fence import Section


def documents(*texts: str, name: str = "hash") -> DocumentSet:
    sections = (Section(f"s#{n}", f"Title {n}", "https://a.example/", text) for n, text in enumerate(texts))
    return DocumentSet(tuple(sections), name)


def ranked(query: str, *texts: str) -> list[str]:
    return [section.text for section in FullTextRanker().rank(query, documents(*texts))]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("How do I install it?", "Install the package with pip."),
        ("ANTHROPIC_API_KEYはどこで設定しますか", "環境変数 ANTHROPIC_API_KEY を設定します。"),
        ("料金の上限はどう設定するの？", "一日の料金の上限を決めます。"),
        ("요금 한도를 어떻게 정하나요", "하루 요금의 한도를 정합니다."),
        ("怎么设置费用上限", "每日费用上限的设置。"),
        ("Как ЗАДАТЬ лимит?", "задать лимит расходов"),
        ("ＡＰＩの使い方", "API の使い方"),
    ],
)
def test_the_section_that_shares_the_words_comes_first(query: str, text: str) -> None:
    others = ("Unrelated words about weather.", "天気についての無関係な文。", "날씨 이야기.")
    assert ranked(query, *others, text)[0] == text


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    texts = ["the guide", "the list", "the zebra", "the end", "the start"]
    assert ranked("the zebra", *texts)[0] == "the zebra"


def test_a_word_in_the_title_counts_more_than_in_the_text() -> None:
    in_text = Section("a#1", "Other", "u", "webhooks and other things of that length")
    in_title = Section("b#1", "Webhooks", "u", "things and other matters of that length")
    others = [Section(f"c#{n}", "More", "u", "filler of that length") for n in range(4)]
    found = FullTextRanker().rank("webhooks", DocumentSet((in_text, in_title, *others), "h"))
    assert found == [in_title, in_text]


def test_ties_stand_in_document_order() -> None:
    assert ranked("apple", *["apple"] * 5) == ["apple"] * 5
    sections = documents(*["apple"] * 5)
    assert FullTextRanker().rank("apple", sections) == list(sections.sections)


def test_what_shares_no_word_is_not_returned() -> None:
    assert ranked("zebra", "apple", "pear") == []
    assert ranked("?!", "apple") == []


def test_other_documents_get_another_index() -> None:
    ranker = FullTextRanker()
    assert ranker.rank("apple", documents("apple", name="one"))
    assert ranker.rank("apple", documents("pear", name="two")) == []
    assert ranker.rank("apple", documents("apple", name="one"))


RANKER, FRUIT = FullTextRanker(), documents("apple", "pear", 'say "NEAR" AND not (OR)*')


@given(
    st.one_of(
        st.text(),
        st.sampled_from(['"', 'a" OR "b', "NEAR(a b)", "title:apple", "a* ^b -c + d", "'; --", "\x00", "\ud800"]),
    )
)
def test_no_question_breaks_the_query(query: str) -> None:
    assert set(RANKER.rank(query, FRUIT)) <= set(FRUIT.sections)


def test_a_question_of_the_greatest_length_is_ranked() -> None:
    assert ranked(" ".join(f"w{number}" for number in range(4_000)), "w1 w2", "none") == ["w1 w2"]


def test_threads_may_share_it_while_documents_change() -> None:
    ranker = FullTextRanker()
    sets = [documents(f"apple {number}", f"pear {number}", name=str(number)) for number in range(4)]

    def ask(turn: int) -> bool:
        wanted = sets[turn % len(sets)]
        return ranker.rank("apple", wanted) == [wanted.sections[0]]

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(400)))
