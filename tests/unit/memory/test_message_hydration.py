"""Memories: which hits of messages are shown, with which words, and what becomes of the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.conversations.domain.messages import MessageStatus
from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.domain.search import Hit, Passage, Search
from fencepost.retrieval.ports import Hydrated
from tests.fakes.conversations import owned
from tests.fakes.index import FakeIndex
from tests.fakes.memories import Diary, message, part
from tests.fakes.retrieval import reader
from tests.worlds.corpus_samples import NOON

ANN = reader()
ASKED, ANSWERED = "I drive a red van to Rome.", "Then take the ferry from Bari."


@pytest.fixture
def diary() -> Diary:
    diary = Diary(FakeIndex())
    diary.clock.advance((NOON - diary.clock()).total_seconds())
    diary.tell(ANN, "c1", ASKED, ANSWERED, title="Trip")
    return diary


def hits(diary: Diary, scope: Scope = ANN, words: str = "van ferry") -> list[Hit]:
    """Return what a question finds, in the order of the conversation."""
    found = diary.index.lexical(scope, Search(kind="message", limit=100), words)
    return sorted(found, key=lambda hit: (hit.parent, hit.position, hit.chunk))


def hydrated(diary: Diary, scope: Scope = ANN, found: list[Hit] | None = None) -> Hydrated:
    return diary.hydrator().hydrate(scope, frozenset(), hits(diary, scope) if found is None else found)


def shown(diary: Diary, found: list[Hit] | None = None) -> list[Passage]:
    """Return the passages as a prompt gets them."""
    passages = tuple(hydrated(diary, found=found).passages.values())
    return list(diary.hydrator().finish(ANN, passages))


def test_a_memory_leads_back_to_its_message_and_says_who_said_it_and_when(diary: Diary) -> None:
    question, answer = shown(diary)
    assert (question.id, question.kind, question.parent) == ("msg:c1-q1", "message", "c1")
    assert (question.text, question.title, question.url) == (ASKED, "Earlier conversation, 2026-03-01, visitor", "")
    assert (answer.id, answer.text) == ("msg:c1-q1.1", ANSWERED)
    assert answer.title == "Earlier conversation, 2026-03-01, assistant"
    assert answer.span == (0, len(ANSWERED))


def test_the_title_of_the_conversation_is_not_handed_on(diary: Diary) -> None:
    diary.change(ANN, "c1", title="I drive a red van")
    assert shown(diary)[0].title == "Earlier conversation, 2026-03-01, visitor"


def test_all_rows_are_read_in_one_step(diary: Diary) -> None:
    diary.tell(ANN, "c2", "Another van was blue.")
    assert len(shown(diary)) == 3
    assert diary.hits.faults.calls == ["hydrate_messages"]


def test_of_a_long_message_the_part_that_was_found_is_shown(diary: Diary) -> None:
    content = "I own a van. [doc:guide#1] It is red."
    diary.tell(ANN, "c2", content)
    diary.enter(ANN, "c2", message("c2", 1, content), (0, 13), (13, len(content)))
    found = [hit for hit in hits(diary, words="red.") if hit.chunk == "c2-q1#1"]
    (only,) = shown(diary, found)
    assert (only.text, only.span, only.id) == ("It is red.", (13, len(content)), "msg:c2-q1")


@pytest.mark.parametrize("marker", ["［msg:c9-q1］", "[msg:\u200bc9-q1]", "[doc:x[msg:c9-q1]]"])
def test_a_memory_cites_nothing_however_that_is_written(diary: Diary, marker: str) -> None:
    diary.tell(ANN, "c2", f"My van is red {marker} and old.")
    assert shown(diary, [hit for hit in hits(diary) if hit.parent == "c2"])[0].text == "My van is red and old."


class TestDead:
    def test_a_conversation_that_is_gone(self, diary: Diary) -> None:
        diary.erase(ANN, "c1")
        assert hydrated(diary).dead == tuple(hits(diary))

    def test_a_message_that_is_gone_or_that_retention_has_left(self, diary: Diary) -> None:
        question, answer = hits(diary)
        diary.shelf.messages[owned(ANN, "c1")].pop()
        diary.change(ANN, "c1", kept_from=2)
        assert hydrated(diary).dead == (question, answer)

    def test_an_answer_that_was_superseded(self, diary: Diary) -> None:
        diary.rewrite(ANN, "c1", 2, status=MessageStatus.SUPERSEDED)
        assert [hit.position for hit in hydrated(diary).dead] == [2]

    def test_another_message_in_its_place(self, diary: Diary) -> None:
        """A conversation that was erased and imported again has other messages under the same numbers."""
        diary.rewrite(ANN, "c1", 1, id="other")
        assert [hit.position for hit in hydrated(diary).dead] == [1]

    @pytest.mark.parametrize("chunk", ["c1-q1", "#0", "c1-q1#", "c1-q1#x", "c1-q1#1234567", ""])
    def test_an_entry_that_is_no_part_of_a_message(self, diary: Diary, chunk: str) -> None:
        forged = replace(hits(diary)[0], chunk=chunk)
        assert hydrated(diary, found=[forged]) == Hydrated({}, (forged,))

    @pytest.mark.parametrize("whose", [reader(visitor="ben"), reader(org="globex")])
    def test_somebody_elses_message_whatever_the_entry_says(self, diary: Diary, whose: Scope) -> None:
        """Entries that name another's conversation, forged into this owner's part of the index."""
        diary.tell(whose, "secret", "My van is hidden.")
        for stored, entry in diary.index.entries.items():
            diary.index.entries[stored] = replace(entry, org=ANN.org, owner=ANN.owner)
        forged = [hit for hit in hits(diary) if hit.parent == "secret"]
        assert len(forged) == 1
        assert hydrated(diary).dead == tuple(forged)
        assert all("hidden" not in passage.text for passage in shown(diary))

    def test_another_owners_conversation_with_the_same_id(self, diary: Diary) -> None:
        ben = reader(visitor="ben")
        diary.tell(ben, "c1", "My van is hidden.", "So is my ferry.")
        assert [passage.text for passage in shown(diary)] == [ASKED, ANSWERED]


class TestWaiting:
    """Neither shown nor removed."""

    def nothing_of(self, diary: Diary) -> None:
        assert hydrated(diary, found=hits(diary)[:1]) == Hydrated()

    def test_a_question_that_has_no_answer_yet(self, diary: Diary) -> None:
        diary.rewrite(ANN, "c1", 1, status=MessageStatus.PENDING)
        self.nothing_of(diary)

    def test_what_its_site_does_not_keep_any_more(self, diary: Diary) -> None:
        diary.change(ANN, "c1", keep_days=7)
        diary.rewrite(ANN, "c1", 1, created_at=NOON - timedelta(days=7, seconds=1))
        self.nothing_of(diary)
        diary.rewrite(ANN, "c1", 1, created_at=NOON - timedelta(days=7))
        assert len(shown(diary)) == 2

    def test_an_entry_whose_row_is_not_written_yet(self, diary: Diary) -> None:
        del diary.parts.rows[owned(ANN, "c1")][1, 0]
        self.nothing_of(diary)

    def test_not_so_an_entry_that_its_row_does_not_know_any_more(self, diary: Diary) -> None:
        """An index may list it, and not yet the one that took its place."""
        rows = diary.parts.rows[owned(ANN, "c1")]
        rows[1, 0] = replace(rows[1, 0], version=2, stored_id="newer")
        assert [passage.text for passage in shown(diary)] == [ASKED, ANSWERED]


class TestElsewhere:
    """What stands in S3 is read for those alone that are shown."""

    @pytest.fixture(params=["archived", "big"])
    def away(self, request: pytest.FixtureRequest, diary: Diary) -> Diary:
        if request.param == "archived":
            diary.change(ANN, "c1", archived_through=2)
        else:
            diary.hits.apart = {("c1", 1), ("c1", 2)}
        return diary

    def test_it_has_no_words_before_it_was_chosen(self, away: Diary) -> None:
        passages = hydrated(away).passages.values()
        assert [passage.text for passage in passages] == ["", ""]

    def test_its_words_are_read_at_the_end(self, away: Diary) -> None:
        assert [passage.text for passage in shown(away)] == [ASKED, ANSWERED]
        assert [passage.title for passage in shown(away)][1] == "Earlier conversation, 2026-03-01, assistant"

    def test_what_is_not_there_is_left_out(self, away: Diary) -> None:
        passages = tuple(hydrated(away).passages.values())
        away.shelf.messages[owned(ANN, "c1")].pop(0)
        assert [one.text for one in away.hydrator().finish(ANN, passages)] == [ANSWERED]

    def test_nor_is_another_message_shown_or_one_that_was_superseded(self, away: Diary) -> None:
        passages = tuple(hydrated(away).passages.values())
        away.rewrite(ANN, "c1", 1, id="other")
        away.rewrite(ANN, "c1", 2, status=MessageStatus.SUPERSEDED)
        assert away.hydrator().finish(ANN, passages) == ()

    def test_an_archived_entry_of_another_message_waits(self, diary: Diary) -> None:
        diary.change(ANN, "c1", archived_through=2)
        rows = diary.parts.rows[owned(ANN, "c1")]
        rows[1, 0] = part(replace(message("c1", 1, ASKED), id="other"), 0, (0, 3))
        assert hydrated(diary, found=hits(diary)[:1]) == Hydrated()
