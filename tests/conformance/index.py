"""What every `VectorIndex` does, whatever it is made of: an adapter's test class inherits from `IndexConformance`."""

from __future__ import annotations

import math
import uuid
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.retrieval.domain.search import Hit, IndexEntry, Search
from tests.conformance.index_entries import DOCUMENTS, KINDS, MESSAGES, MODEL, Owner, Subject, chunks, towards
from tests.conformance.index_keeping import IndexKeepingConformance

# A fresh organisation for each example makes the shared index as good as a new one.
property_based = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


class IndexConformance(IndexKeepingConformance):
    """The tests. Whoever inherits gives the fixture `subject`."""

    def test_what_was_written_is_found_by_its_words_and_by_its_meaning(self, subject: Subject) -> None:
        one = Owner()
        entry = one.entry(text="Rotate the signing keys", context="Security", vector=towards(30), position=7, version=3)
        (stored,) = subject.write(one.scope, entry)
        (by_words,) = subject.index.lexical(one.scope, DOCUMENTS, "signing")
        (by_meaning,) = subject.index.nearest(one.scope, DOCUMENTS, towards(0), MODEL.name)
        assert by_meaning.score == pytest.approx(math.cos(math.radians(30)), abs=1e-4)
        assert replace(by_words, score=0) == replace(by_meaning, score=0)
        assert replace(by_words, score=0) == Hit(
            stored_id=stored,
            chunk="c1",
            parent="p1",
            version=3,
            model=MODEL.name,
            score=0,
            text="Rotate the signing keys",
            context="Security",
            position=7,
        )

    def test_entries_are_called_in_their_order(self, subject: Subject) -> None:
        one = Owner()
        entries = [one.entry(f"c{n}", f"number{n}", kind="message" if n % 2 else "document") for n in range(7)]
        stored = subject.write(one.scope, *entries)
        assert len(set(stored)) == 7
        by_id = {item.stored_id: item.chunk for item in subject.index.listed(one.scope, None, 100).items}
        assert [by_id[name] for name in stored] == [f"c{n}" for n in range(7)]

    def test_an_empty_organisation_has_nothing(self, subject: Subject) -> None:
        one = Owner()
        subject.write(Owner().scope)
        assert subject.index.lexical(one.scope, DOCUMENTS, "words") == ()
        assert subject.index.nearest(one.scope, MESSAGES, towards(0), MODEL.name) == ()
        assert subject.index.listed(one.scope, None, 10).items == ()

    @pytest.mark.parametrize(
        "strange", [{"org": "elsewhere"}, {"owner": "member:u2"}, {"owner": "", "kind": "message"}]
    )
    def test_nobody_writes_what_is_not_the_scopes(self, subject: Subject, strange: dict[str, Any]) -> None:
        one = Owner()
        with pytest.raises(ValueError, match="not the scope's"):
            subject.index.upsert(one.scope, [one.entry(), replace(one.entry(), **strange)])
        assert subject.index.listed(one.scope, None, 10).items == ()

    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("How do I install it?", "Install the package with pip."),
            ("installing packages", "Each package is installed once."),
            ("Wie setze ich das Limit?", "Das Limit wird täglich gesetzt."),
            ("Как ЗАДАТЬ лимит?", "задать лимит расходов"),
            ("料金の上限はどう設定するの？", "一日の料金の上限を決めます。"),
            ("怎么设置费用上限", "每日费用上限的设置。"),
            ("요금 한도를 어떻게 정하나요", "하루 요금의 한도를 정합니다."),
            ("ＡＰＩの使い方", "API の使い方"),
        ],
    )
    def test_words_are_found_in_several_languages(self, subject: Subject, query: str, text: str) -> None:
        one = Owner()
        others = ("Unrelated thoughts about weather.", "天気についての無関係な文。", "날씨 이야기.")
        entries = [one.entry(f"c{n}", words) for n, words in enumerate((*others, text))]
        subject.write(one.scope, *entries)
        assert chunks(subject.index.lexical(one.scope, DOCUMENTS, query))[0] == "c3"

    def test_a_rare_word_counts_more_than_a_common_one(self, subject: Subject) -> None:
        one = Owner()
        texts = ("guide list", "guide zebra", "guide end", "guide start", "guide guide guide")
        subject.write(one.scope, *(one.entry(f"c{n}", text) for n, text in enumerate(texts)))
        assert chunks(subject.index.lexical(one.scope, DOCUMENTS, "guide zebra"))[0] == "c1"

    def test_the_words_of_a_message_count_more_than_those_around_it(self, subject: Subject) -> None:
        one = Owner()
        subject.write(
            one.scope,
            one.entry("context", "other matters", context="webhooks here", kind="message"),
            one.entry("text", "webhooks here", context="other matters", kind="message"),
            one.entry("neither", "more filler", context="of that length", kind="message"),
        )
        assert chunks(subject.index.lexical(one.scope, MESSAGES, "webhooks")) == ["text", "context"]

    def test_a_document_is_found_by_its_headings(self, subject: Subject) -> None:
        one = Owner()
        subject.write(one.scope, one.entry("c1", "Press the button.", context="Guide › Webhooks"), one.entry("c2"))
        assert chunks(subject.index.lexical(one.scope, DOCUMENTS, "webhook")) == ["c1"]

    @pytest.mark.parametrize("query", ["", "   ", "?!", "unheardofword", "\u200b"])
    def test_what_shares_no_word_is_not_found(self, subject: Subject, query: str) -> None:
        one = Owner()
        subject.write(one.scope, one.entry())
        assert subject.index.lexical(one.scope, DOCUMENTS, query) == ()

    @pytest.mark.parametrize(
        "query",
        [
            'words" OR "x',
            "words* NEAR(words, 2)",
            "text: words ^words -words +words",
            "{words} [words] (words",
            "words " * 2_000,
            " ".join(f"other{n}" for n in range(30)) + " words " + " ".join(f"word{n}" for n in range(3_000)),
            "words \x00 \ud7ff \uffff",
        ],
    )
    def test_whatever_a_query_holds_is_only_ever_words(self, subject: Subject, query: str) -> None:
        one = Owner()
        subject.write(one.scope, one.entry())
        assert chunks(subject.index.lexical(one.scope, DOCUMENTS, query)) == ["c1"]

    def test_the_nearest_come_first_and_no_more_than_were_asked_for(self, subject: Subject) -> None:
        one = Owner()
        angles = (80, 10, 170, 40, 120)
        subject.write(one.scope, *(one.entry(f"c{angle}", vector=towards(angle)) for angle in angles))
        hits = subject.index.nearest(one.scope, replace(DOCUMENTS, limit=4), towards(0), MODEL.name)
        assert chunks(hits) == ["c10", "c40", "c80", "c120"]
        assert [hit.score for hit in hits] == pytest.approx(
            [math.cos(math.radians(a)) for a in (10, 40, 80, 120)], abs=1e-4
        )

    def test_vectors_of_different_models_are_never_compared(self, subject: Subject) -> None:
        one = Owner()
        subject.write(one.scope, one.entry("c1"), one.entry("c2", model="test/other"))
        assert chunks(subject.index.nearest(one.scope, DOCUMENTS, towards(0), MODEL.name)) == ["c1"]
        assert chunks(subject.index.nearest(one.scope, DOCUMENTS, towards(0), "test/other")) == ["c2"]
        assert subject.index.nearest(one.scope, DOCUMENTS, towards(0), "test/third") == ()

    def test_nothing_is_near_a_vector_of_other_dimensions(self, subject: Subject) -> None:
        one = Owner()
        subject.write(one.scope, one.entry())
        assert subject.index.nearest(one.scope, DOCUMENTS, (1.0, 0.0), MODEL.name) == ()

    def test_contexts_have_vectors_of_their_own(self, subject: Subject) -> None:
        one = Owner()
        near_text = one.entry("text", vector=towards(0), context_vector=towards(90))
        near_context = one.entry("context", vector=towards(90), context_vector=towards(0))
        subject.write(one.scope, near_text, near_context, one.entry("without", vector=towards(45)))
        by_text = subject.index.nearest(one.scope, DOCUMENTS, towards(0), MODEL.name, "text")
        by_context = subject.index.nearest(one.scope, DOCUMENTS, towards(0), MODEL.name, "context")
        assert chunks(by_text) == ["text", "without", "context"]
        assert chunks(by_context) == ["context", "text"]

    def test_what_may_not_be_read_never_takes_the_place_of_what_may(self, subject: Subject) -> None:
        one = Owner()
        hidden = [one.entry(f"h{n}", "words words", grants=frozenset({"role:admin"})) for n in range(60)]
        subject.write(one.scope, *hidden, one.entry("shown", "words among many others", vector=towards(80)))
        narrow = replace(DOCUMENTS, limit=1)
        assert chunks(subject.index.lexical(one.scope, narrow, "words")) == ["shown"]
        assert chunks(subject.index.nearest(one.scope, narrow, towards(0), MODEL.name)) == ["shown"]

    def test_one_grant_of_several_is_enough_and_none_is_not(self, subject: Subject) -> None:
        one = Owner()
        subject.write(one.scope, one.entry(grants=frozenset({"user:a:b", "user:c d", 'user:"e"'})))
        for grants, found in (({"user:c d", "members"}, ["c1"]), ({'user:"e"'}, ["c1"]), ({"user:c"}, []), (set(), [])):
            search = replace(DOCUMENTS, grants=frozenset(grants))
            assert chunks(subject.index.lexical(one.scope, search, "words")) == found
            assert chunks(subject.index.nearest(one.scope, search, towards(0), MODEL.name)) == found

    def test_messages_of_an_excluded_conversation_are_left_out(self, subject: Subject) -> None:
        one = Owner()
        subject.write(one.scope, *(one.entry(f"c{n}", kind="message", parent=f"p{n}") for n in range(3)))
        search = replace(MESSAGES, exclude_parent="p1")
        assert sorted(chunks(subject.index.lexical(one.scope, search, "words"))) == ["c0", "c2"]
        assert sorted(chunks(subject.index.nearest(one.scope, search, towards(0), MODEL.name))) == ["c0", "c2"]

    @property_based
    @given(data=st.data())
    def test_a_search_finds_exactly_what_its_scope_and_grants_allow(
        self, subject: Subject, data: st.DataObject
    ) -> None:
        orgs = [f"org-{uuid.uuid4().hex}" for _ in range(2)]
        owners = [Owner(org, name) for org in orgs for name in ("member:a", "visitor:b")]
        grants = st.frozensets(st.sampled_from(["site:docs", "members", "role:admin", "user:a"]), min_size=1)
        written: list[tuple[Owner, IndexEntry]] = []
        for n in range(data.draw(st.integers(1, 12))):
            owner, kind = data.draw(st.sampled_from(owners)), data.draw(st.sampled_from(KINDS))
            model = data.draw(st.sampled_from([MODEL.name, "test/other"]))
            held = data.draw(grants) if kind == "document" else frozenset()
            entry = owner.entry(f"c{n}", kind=kind, model=model, grants=held, parent=f"p{n % 3}")
            written.append((owner, entry))
        for owner in owners:
            subject.index.upsert(owner.scope, [entry for writer, entry in written if writer is owner])
        subject.settle()
        asked = data.draw(st.builds(Search, kind=st.sampled_from(KINDS), grants=grants))
        for owner in owners:
            allowed = [entry for _, entry in written if _may_find(owner, asked, entry)]
            by_words = subject.index.lexical(owner.scope, asked, "words")
            assert sorted(chunks(by_words)) == sorted(entry.chunk for entry in allowed)
            by_meaning = subject.index.nearest(owner.scope, asked, towards(0), MODEL.name)
            same_model = [entry for entry in allowed if entry.model == MODEL.name]
            assert sorted(chunks(by_meaning)) == sorted(entry.chunk for entry in same_model)

    def test_it_is_well(self, subject: Subject) -> None:
        assert subject.index.health().state == "ok"


def _may_find(owner: Owner, search: Search, entry: IndexEntry) -> bool:
    if (entry.org, entry.kind) != (owner.org, search.kind):
        return False
    return entry.owner == owner.name if entry.kind == "message" else bool(entry.grants & search.grants)
