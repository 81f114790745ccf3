"""Answers made anew over fakes: which, how often, and for whom."""

from __future__ import annotations

import pytest

from fencepost.kernel.errors import ErrorCode
from fencepost.model.domain import ModelError
from tests.worlds.chat import NOON, fails
from tests.worlds.talk import QUESTION, Talk


@pytest.fixture
def talk() -> Talk:
    return Talk()


def test_an_answer_is_made_anew(talk: Talk) -> None:
    first = talk.chat(messageId="m1").json
    for message_id, revision in (("m1", 2), ("m1.1", 3), ("m1.3", 4)):
        reply = talk.anew(message_id)
        assert reply.status == 200
        assert reply.json["answerId"] == f"m1.{revision}"
        assert reply.json["conversationId"] == first["conversationId"]
    rows = sorted(next(iter(talk.api.store.shelf.messages.values())), key=lambda row: row.seq)
    assert [(row.seq, row.id, str(row.status)) for row in rows] == [
        (1, "m1", "answered"),
        (2, "m1.1", "superseded"),
        (3, "m1.2", "superseded"),
        (4, "m1.3", "superseded"),
        (5, "m1.4", "complete"),
    ]
    assert talk.chat(messageId="m1").json["answerId"] == "m1.4"


def test_an_answer_made_anew_is_not_told_the_one_before(talk: Talk) -> None:
    talk.chat(messageId="m1")
    talk.anew("m1")
    blocks = [block.text for one in talk.turns.model.prompts[-1].turns for block in one.blocks]
    assert sum(QUESTION in text for text in blocks) == 1
    assert not any("Yes." in text for text in blocks)


def test_a_key_makes_one_answer_anew_however_often_it_is_sent(talk: Talk) -> None:
    conversation = talk.chat(messageId="m1").json["conversationId"]
    key = {"idempotency-key": "!" + "~" * 127}
    first = talk.anew("m1", **key)
    inside = f"/v1/conversations/{conversation}/messages/m1/regenerate"
    replies = [talk.anew("m1", **key), talk.api.ask("POST", inside, talk.api.visitor() | key)]
    assert (first.status, first.json["answerId"]) == (200, "m1.2")
    assert [reply.text for reply in replies] == [first.text] * 2
    assert talk.calls == talk.turns.books.bill(NOON.date()).calls == 2
    assert talk.anew("m1", **{"idempotency-key": "another"}).json["answerId"] == "m1.3"


@pytest.mark.parametrize("key", ["", "k" * 129, "two words", "schl\u00fcssel", "k\n", "\x7f"])
def test_a_malformed_key_is_told_apart_and_nothing_is_paid(talk: Talk, key: str) -> None:
    talk.chat(messageId="m1")
    reply = talk.anew("m1", **{"idempotency-key": key})
    assert (reply.status, reply.code) == (400, "idempotency_key_invalid")
    assert talk.calls == 1


def test_only_the_last_answer_is_made_anew(talk: Talk) -> None:
    conversation = talk.chat(messageId="m1").json["conversationId"]
    talk.chat("More", messageId="m2", conversationId=conversation)
    reply = talk.anew("m1")
    assert (reply.status, reply.code) == (409, "regenerate_not_last")
    assert talk.calls == 2
    assert talk.anew("m2").status == 200


def test_what_has_no_answer_cannot_be_made_anew(talk: Talk) -> None:
    talk.turns.model.reply = fails(ModelError(ErrorCode.PROVIDER_FAILED, usage=None))
    talk.chat(messageId="m1")
    reply = talk.anew("m1")
    assert (reply.status, reply.code) == (409, "answer_missing")


@pytest.mark.parametrize("who", ["another visitor", "another organisation", "owner"])
def test_absent_and_foreign_answers_are_alike(talk: Talk, who: str) -> None:
    talk.chat(messageId="m1")
    headers, message_id = {
        "another visitor": (talk.api.visitor("visitor-bob"), "m1"),
        "another organisation": (talk.api.visitor(org="zeta"), "m1"),
        "owner": (talk.api.visitor(), "m9"),
    }[who]
    reply = talk.anew(message_id, headers)
    assert (reply.status, reply.code) == (404, "not_found")
