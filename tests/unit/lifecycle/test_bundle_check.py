"""What a bundle that is signed must still keep to before anything of it is imported."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.conversations.domain.messages import Message
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.json_lines import to_line
from fencepost.lifecycle.domain.bundles import BundledMessage
from tests.worlds.bundle_files import A1, Q1, conversation, exchange, packed, refusal, told, written


@pytest.mark.parametrize(
    "run",
    [
        [Q1, told(3)],
        [A1],
        [Q1, A1, A1],
        [Q1, told(2, reply_to=2)],
        [Q1, told(2, id="q2.1")],
        [Q1, told(2, id="q1.x")],
        [Q1, told(2, reply_to=None)],
        [replace(Q1, id="")],
        [replace(Q1, id="a b")],
    ],
    ids=["gap", "begins late", "repeat", "own answer", "other id", "no revision", "no question", "no id", "odd id"],
)
def test_messages_must_follow_each_other(run: list[Message]) -> None:
    assert refusal(packed([conversation("c1")], {"c1": run})) == ErrorCode.BUNDLE_INVALID


def test_conversations_must_be_named_once_and_in_order() -> None:
    for names in (["c2", "c1"], ["c1", "c1"], ["a/b"]):
        assert refusal(packed([conversation(name) for name in names], {})) == ErrorCode.BUNDLE_INVALID


def test_messages_must_belong_to_a_conversation_and_stand_together() -> None:
    assert refusal(packed([conversation("c1")], {"c2": [Q1, A1]})) == ErrorCode.BUNDLE_INVALID
    three = (("c1", Q1), ("c2", exchange(1, "q2")[0]), ("c1", A1))
    mixed = [BundledMessage(conversation=name, message=message) for name, message in three]
    two = [conversation("c1"), conversation("c2")]
    assert refusal(written(map(to_line, two), map(to_line, mixed), (), ())) == ErrorCode.BUNDLE_INVALID


def test_two_conversations_cannot_share_a_questions_id() -> None:
    said = {"c1": [*exchange(1, "q1")], "c2": [*exchange(1, "q1")]}
    assert refusal(packed([conversation("c1"), conversation("c2")], said)) == ErrorCode.BUNDLE_INVALID
