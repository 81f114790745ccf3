"""One order of what was found by words and by meaning, what is chosen of it, and whether it is relevant."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.retrieval.domain.ranking.fusion import (
    LONG,
    Lists,
    Profile,
    Ranked,
    Weights,
    fuse,
    key_of,
    nearness,
    shared_wording,
)
from fencepost.retrieval.domain.ranking.selection import FLOOR, chance, collapsed, diversified, relevant
from fencepost.retrieval.domain.search import Hit

E5 = "multilingual-e5-small-q4/384"


def hit(chunk: str, score: float, text: str = "", **rest: str | int) -> Hit:
    plain = {"stored_id": f"s-{chunk}", "parent": "p", "version": 1, "model": E5, "context": ""}
    return Hit(chunk=chunk, score=score, text=text, **(plain | rest))  # type: ignore[arg-type]  # of the right kinds


def chunks(ranked: Sequence[Ranked]) -> list[str]:
    return [each.hit.chunk for each in ranked]


scores = st.floats(-1, 30)
texts = st.lists(st.sampled_from(["install", "linux", "windows", "refund", "the", "of"]), max_size=6).map(" ".join)
hits = st.builds(
    hit, st.sampled_from("abcdefgh"), scores, texts, version=st.integers(1, 3), parent=st.sampled_from("pq")
)
lists = st.builds(Lists, st.lists(hits, max_size=12), st.lists(hits, max_size=12))
profiles = st.sampled_from(Profile)
everything = st.builds(fuse, lists, profiles, texts)


class TestOrder:
    @given(lists, profiles, texts)
    def test_each_chunk_that_was_found_is_there_once_the_best_first(
        self, found: Lists, profile: Profile, question: str
    ) -> None:
        ranked = fuse(found, profile, question)
        keys = [key_of(each.hit) for each in ranked]
        assert sorted(keys) == sorted({key_of(each) for each in (*found.lexical, *found.nearest)})
        assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)

    @given(st.lists(hits, max_size=12, unique_by=key_of), profiles, texts, st.randoms(use_true_random=False))
    def test_the_order_in_which_it_was_found_does_not_matter(
        self, found: list[Hit], profile: Profile, question: str, chance_of: random.Random
    ) -> None:
        shuffled = Lists(*(chance_of.sample(found, len(found)) for _ in range(2)))
        assert fuse(shuffled, profile, question) == fuse(Lists(found, found), profile, question)

    @given(lists, profiles, texts)
    def test_a_score_is_within_its_bounds(self, found: Lists, profile: Profile, question: str) -> None:
        weights = Weights()
        most = 1 + weights.meaning + weights.wording + weights.speaker * (profile is Profile.MESSAGES)
        assert all(0 <= each.score <= most + 1e-9 for each in fuse(found, profile, question))

    @given(lists, texts, st.floats(0.01, 100))
    def test_the_unit_of_bm25_does_not_matter(self, found: Lists, question: str, factor: float) -> None:
        scaled = Lists([replace(each, score=each.score * factor) for each in found.lexical], found.nearest)
        one, other = (fuse(some, Profile.DOCUMENTS, question) for some in (found, scaled))
        assert {key_of(each.hit): each.score for each in one} == pytest.approx(
            {key_of(each.hit): each.score for each in other}
        )

    def test_found_by_both_comes_before_found_by_one(self) -> None:
        ranked = fuse(
            Lists(
                [hit("words", 9), hit("both", 8), hit("weak", 1)], [hit("both", 0.9), hit("meant", 0.88), hit("x", 0.8)]
            ),
            Profile.DOCUMENTS,
            "",
        )
        assert chunks(ranked)[0] == "both"

    def test_how_far_the_best_is_ahead_counts(self) -> None:
        near = [hit("b", 0.90), hit("a", 0.89), hit("z", 0.80)]
        assert chunks(fuse(Lists([hit("a", 9), hit("b", 8.9)], near), Profile.DOCUMENTS, ""))[0] == "b"
        assert chunks(fuse(Lists([hit("a", 9), hit("b", 3)], near), Profile.DOCUMENTS, ""))[0] == "a"

    @pytest.mark.parametrize("found", [Lists(), Lists([hit("a", 0)]), Lists([], [hit("a", 0.8)]), Lists([hit("a", 2)])])
    def test_one_list_alone_or_none_is_enough(self, found: Lists) -> None:
        assert len(fuse(found, Profile.DOCUMENTS, "a question")) == len([*found.lexical, *found.nearest])

    def test_of_two_versions_the_newer_counts_whichever_list_has_it(self) -> None:
        old, new = hit("a", 5, "old", version=1), hit("a", 0.9, "new", version=2)
        assert [each.hit.text for each in fuse(Lists([old], [new]), Profile.DOCUMENTS, "")] == ["new"]
        assert [each.hit.text for each in fuse(Lists([new, old]), Profile.DOCUMENTS, "")] == ["new"]

    def test_the_wording_of_the_question_decides_between_equals(self) -> None:
        equal = [hit("a", 5, "keys rotate the signing"), hit("b", 5, "how to rotate the signing keys")]
        assert chunks(fuse(Lists(equal), Profile.DOCUMENTS, "rotate signing keys")) == ["b", "a"]

    def test_who_is_named_is_preferred_among_messages_alone(self) -> None:
        found = Lists([hit("a", 5, "Bo, 8 May 2023\npainted"), hit("b", 4.5, "Ann Lee, 8 May 2023\npainted")])
        assert chunks(fuse(found, Profile.MESSAGES, "What did Ann's friend paint?")) == ["b", "a"]
        assert chunks(fuse(found, Profile.DOCUMENTS, "What did Ann's friend paint?")) == ["a", "b"]

    def test_naming_everybody_is_naming_nobody(self) -> None:
        found = Lists([hit("a", 5, "Bo, 8 May 2023\nx"), hit("b", 4.5, "Ann, 8 May 2023\nx")])
        assert chunks(fuse(found, Profile.MESSAGES, "What do Ann and Bo like?")) == ["a", "b"]


class TestWording:
    def test_the_rarer_pair_counts_for_more(self) -> None:
        common, rare, both = shared_wording(
            "signing keys expire", ["signing keys", "keys expire", "signing keys expire"]
        )
        assert common == pytest.approx(rare)
        assert both == 1
        shares = shared_wording("signing keys expire", ["signing keys"] * 4 + ["keys expire"])
        assert shares[4] > shares[0] > 0

    def test_pairs_of_stop_words_say_nothing(self) -> None:
        assert shared_wording("what is the of", ["what is the"]) == (1.0,)
        assert shared_wording("where is the invoice", ["where is the cat"]) == (0.0,)

    def test_in_japanese_a_pair_is_three_characters_in_a_row(self) -> None:
        assert shared_wording("東大寺の仏像", ["東大寺", "東京大学寺"]) == (1.0, 0.0)

    @given(texts, st.lists(texts, max_size=5))
    def test_shares_are_between_nothing_and_all(self, question: str, some: list[str]) -> None:
        shares = shared_wording(question, some)
        assert len(shares) == len(some)
        assert all(0 <= share <= 1 + 1e-9 for share in shares)


class TestChoice:
    @given(everything, st.integers(0, 8), st.floats(0, 1))
    def test_as_many_as_are_wanted_each_once_the_best_always(
        self, ranked: tuple[Ranked, ...], wanted: int, relevance: float
    ) -> None:
        chosen = diversified(ranked, wanted, relevance)
        assert len(chosen) == min(wanted, len(ranked))
        assert len(set(map(id, chosen))) == len(chosen)
        assert chosen[:1] == ranked[: min(wanted, 1)]

    @given(everything, st.integers(0, 4), st.integers(0, 4))
    def test_the_first_are_the_same_however_many_are_taken(
        self, ranked: tuple[Ranked, ...], fewer: int, more: int
    ) -> None:
        assert diversified(ranked, fewer + more)[:fewer] == diversified(ranked, fewer)

    @given(everything)
    def test_by_relevance_alone_the_order_stays(self, ranked: tuple[Ranked, ...]) -> None:
        assert diversified(ranked, len(ranked), 1.0) == ranked

    def test_what_repeats_another_word_for_word_comes_later(self) -> None:
        ranked = [Ranked(hit(name, 0, text), score) for name, text, score in (
            ("a", "install it on linux", 1.0),
            ("b", "Install it: on Linux!", 0.95),
            ("c", "billing and refunds", 0.8),
        )]  # fmt: skip
        assert chunks(diversified(ranked, 3)) == ["a", "c", "b"]

    def test_what_shares_some_words_keeps_its_place(self) -> None:
        ranked = [Ranked(hit("a", 0, "install on linux"), 1.0), Ranked(hit("b", 0, "install on windows today"), 0.9)]
        assert chunks(diversified([*ranked, Ranked(hit("c", 0, "refunds"), 0.85)], 3)) == ["a", "b", "c"]

    @given(everything, st.integers(1, 3))
    def test_a_part_gives_its_best(self, ranked: tuple[Ranked, ...], most: int) -> None:
        kept = collapsed(ranked, lambda each: each.hit.parent, most)
        for parent in "pq":
            of_parent = [each for each in ranked if each.hit.parent == parent]
            assert [each for each in kept if each.hit.parent == parent] == of_parent[:most]


class TestNearness:
    @given(st.lists(st.floats(-1, 1).map(lambda score: hit("a", score)), max_size=80))
    def test_it_is_between_nothing_and_all_and_in_the_order_of_the_cosines(self, some: list[Hit]) -> None:
        near = nearness(some)
        assert all(0 <= value <= 1 for value in near)
        pairs = sorted(zip([each.score for each in some], near, strict=True))
        assert [value for _, value in pairs] == sorted(near)

    def test_the_last_of_a_long_list_is_unrelated(self) -> None:
        assert nearness([hit("a", 0.9 - n / 1_000) for n in range(LONG)])[-1] == 0

    def test_in_a_short_list_all_may_be_near(self) -> None:
        assert nearness([hit("a", 0.9)]) == pytest.approx([0.5])
        assert nearness([hit("a", 0.6, model="another/1024")]) == pytest.approx([0.5])


class TestRelevance:
    def test_the_terms_of_a_question_and_the_nearness_raise_the_chance(self) -> None:
        near, far = (Ranked(hit("a", 0, "rotate the signing keys"), 1.0, nearness=value) for value in (0.5, 0.0))
        question = "How do I rotate keys?"
        assert 1 > chance(near, question) > chance(far, question) > chance(far, "How do I rotate invoices?") > 0

    def test_the_context_has_terms_too(self) -> None:
        bare, headed = (Ranked(hit("a", 0, "Run make.", context=above), 1.0) for above in ("", "Install › Linux"))
        assert chance(headed, "install linux") > chance(bare, "install linux")

    def test_what_shares_nothing_is_below_the_floor_and_meaning_alone_can_reach_it(self) -> None:
        strange, translated = (Ranked(hit("a", 0, "Rechnungen"), 1.0, nearness=value) for value in (0.05, 0.4))
        assert relevant([strange], "install linux") == ()
        assert relevant([translated], "invoices") == (translated,)
        assert chance(strange, "install linux") < FLOOR <= chance(translated, "invoices")

    @given(everything, texts, st.floats(0, 1))
    def test_it_is_all_or_nothing(self, ranked: tuple[Ranked, ...], question: str, floor: float) -> None:
        assert relevant(ranked, question, floor) in ((), ranked)
        assert relevant(ranked, question, 0.0) == ranked

    @given(everything, texts)
    def test_a_chance_is_one(self, ranked: tuple[Ranked, ...], question: str) -> None:
        assert all(0 < chance(each, question) < 1 for each in ranked)
