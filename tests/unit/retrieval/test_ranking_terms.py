"""The terms by which texts are found, and the fields that they stand in."""

from __future__ import annotations

import math
import os
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.documents.domain.documents import Chunk
from fencepost.documents.domain.entries import address_words, document_fields
from fencepost.retrieval.domain.ranking.fields import REACH, Said, blended, message_fields, speaker_of
from fencepost.retrieval.domain.ranking.terms import STOP_WORDS, index_terms, query_terms, stem, terms

SAMPLE = Path(__file__).with_name("porter_stems.txt")
DOCUMENTS = sorted((Path(os.environ.get("FENCEPOST_DATA", "../shared/data")) / "docs").glob("*.txt"))
DAY = date(2023, 5, 8)

_ENDINGS = """ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism iveness fulness
    ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent
    sion tion ou ism ate iti ous ive ize s es ies sses ed eed ing ly y e ll"""
ENDINGS = _ENDINGS.split()

words = st.builds(
    "".join,
    st.tuples(st.text("abcdefghilmnoprstuy", min_size=1, max_size=6), st.sampled_from(["", *ENDINGS])),
)
names = st.text(max_size=100)


def stemmed_by_sqlite(texts: list[str]) -> list[str]:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter ascii')")
    database.execute("CREATE VIRTUAL TABLE found USING fts5vocab(words, instance)")
    database.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", enumerate(texts))
    found = dict(database.execute("SELECT doc, term FROM found").fetchall())
    return [found[place] for place in range(len(texts))]


class TestStems:
    @given(st.lists(words, min_size=1, max_size=50))
    def test_words_lose_their_endings_as_in_sqlites_own_porter(self, some: list[str]) -> None:
        assert [stem(word) for word in some] == stemmed_by_sqlite(some)

    @pytest.mark.parametrize(
        ("word", "its_stem"),
        [("caresses", "caress"), ("ponies", "poni"), ("agreed", "agre"), ("hopping", "hop"), ("relational", "relat")],
    )
    def test_examples_of_the_paper(self, word: str, its_stem: str) -> None:
        assert stem(word) == its_stem

    def test_stems_of_the_sample_vocabulary_stay_as_stored_indexes_have_them(self) -> None:
        stems = dict(line.split() for line in SAMPLE.read_text().splitlines())
        assert {word: stem(word) for word in stems} == stems

    @pytest.mark.skipif(not DOCUMENTS, reason="FENCEPOST_DATA has no docs")
    def test_stems_of_all_words_of_real_documents_are_sqlites(self) -> None:
        texts = (path.read_text("utf-8") for path in DOCUMENTS)
        english = sorted({word for text in texts for word in terms(text) if re.fullmatch("[a-z]{1,64}", word)})
        assert [stem(word) for word in english] == stemmed_by_sqlite(english)

    @pytest.mark.parametrize(
        ("word", "its_stem"), [("technologies", "technolog"), ("possibly", "possibl"), ("trekking", "trek")]
    )
    def test_rules_that_snowball_lacks(self, word: str, its_stem: str) -> None:
        assert stem(word) == its_stem

    def test_threads_stem_as_one_does(self) -> None:
        words = [f"{'x' * length}{ending}" for length in range(1, 40) for ending in ENDINGS]
        expected = [stem.__wrapped__(word) for word in words]
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(stem.__wrapped__, words)) == expected

    @pytest.mark.parametrize("word", ["", "is", "東京", "größe", "x86", "naïves"])
    def test_what_is_short_or_no_english_stays(self, word: str) -> None:
        assert stem(word) == word


class TestTerms:
    def test_a_question_asks_for_what_tells_something_and_for_each_term_once(self) -> None:
        assert query_terms("How do I install the installer, and where was it installed?") == ("instal",)

    @pytest.mark.parametrize("question", ["What is this?", "ありがとう", "who are you"])
    def test_a_question_of_stop_words_alone_asks_for_them(self, question: str) -> None:
        assert set(query_terms(question)) == set(index_terms(question)) != set()

    def test_particles_of_japanese_tell_nothing(self) -> None:
        assert query_terms("東大寺はどこですか") == ("東大", "大寺", "寺は")

    @given(st.text())
    def test_whatever_is_asked_for_is_found_in_the_same_text(self, text: str) -> None:
        assert set(query_terms(text)) <= set(index_terms(text))
        assert len(query_terms(text)) == len(set(query_terms(text)))

    @given(st.text())
    def test_a_term_has_no_white_space_or_quotation_mark(self, text: str) -> None:
        assert all(term and not set(term) & set(" \t\n\"'*") for term in index_terms(text))

    def test_stop_words_are_terms(self) -> None:
        assert {term for word in STOP_WORDS for term in index_terms(word)} == {stem(word) for word in STOP_WORDS}


class TestDocuments:
    PIECE = Chunk(id="p", start=9, end=20, text="Run make.", breadcrumb=("Guide", "Linux"), lead="It is easy. ")

    def test_the_context_is_address_title_and_headings_and_the_lead_is_embedded_alone(self) -> None:
        fields = document_fields("Guide", self.PIECE, "https://x.example/en/docs/set-up.html?a=b#linux")
        assert (fields.text, fields.context) == ("Run make.", "set up › Guide › Linux")
        assert fields.passage == "set up › Guide › Linux\nIt is easy. Run make."

    def test_a_chunk_without_anything_around_it_is_its_text(self) -> None:
        fields = document_fields("", Chunk(id="p", start=0, end=4, text=" hi "))
        assert (fields.text, fields.context, fields.passage) == (" hi ", "", "hi")

    @pytest.mark.parametrize(
        ("url", "its_words"),
        [
            ("", ""),
            ("https://x.example", ""),
            ("http://[", ""),
            ("https://x.example/documentation/index.html", ""),
            ("https://x.example/caf%C3%A9/a_b--c/", "café › a b c"),
            ("https://x.example/%E5%85%A5%E9%96%80", "入門"),
        ],
    )
    def test_words_of_an_address(self, url: str, its_words: str) -> None:
        assert address_words(url) == its_words


class TestMessages:
    @staticmethod
    def said(*texts: str) -> list[Said]:
        return [Said(text, DAY, "Ann") for text in texts]

    def test_who_and_when_are_its_first_line_and_its_neighbours_the_context(self) -> None:
        fields = message_fields(Said("me", DAY, "Bo"), self.said("far", "b2", "b1"), self.said("a1", "a2", "far"))
        assert fields.text == "Bo, 8 May 2023\nme"
        assert fields.passage == "Bo: me"
        assert [line for line in fields.context.splitlines() if "May" not in line] == [
            "b1",
            "b1",
            "b2",
            "a1",
            "a1",
            "a2",
        ]

    def test_without_a_name_there_is_the_day(self) -> None:
        fields = message_fields(Said("hello, there", DAY))
        assert (fields.text, fields.context, fields.passage) == ("8 May 2023\nhello, there", "", "hello, there")
        assert speaker_of(fields.text) == ""

    @given(names, st.text(), st.dates())
    def test_who_said_it_is_read_from_the_text_whatever_is_said(self, name: str, words: str, day: date) -> None:
        assert speaker_of(message_fields(Said(words, day, name)).text) == " ".join(name.split())[:80].strip()


unit_vectors = st.floats(0, 2 * math.pi).map(lambda angle: (math.cos(angle), math.sin(angle)))


class TestBlending:
    @given(unit_vectors, st.lists(unit_vectors, max_size=4), st.lists(unit_vectors, max_size=4))
    def test_a_blend_is_of_length_one_and_looks_no_further_than_its_reach(
        self, own: tuple[float, ...], before: list[tuple[float, ...]], after: list[tuple[float, ...]]
    ) -> None:
        blend = blended(own, before, after)
        assert math.hypot(*blend) == pytest.approx(1)
        assert blend == blended(own, before[-REACH:], after[:REACH])

    @given(unit_vectors, unit_vectors)
    def test_its_own_meaning_counts_most(self, own: tuple[float, ...], other: tuple[float, ...]) -> None:
        blend = blended(own, [other])
        assert math.sumprod(blend, own) >= math.sumprod(blend, other) - 1e-9

    def test_alone_it_is_its_own(self) -> None:
        assert blended((0.6, 0.8)) == pytest.approx((0.6, 0.8))

    def test_what_cancels_itself_out_is_its_own(self) -> None:
        assert blended((1.0, 0.0), [(-1.0, 0.0)], [(-1.0, 0.0)]) == (1.0, 0.0)
