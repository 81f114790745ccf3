"""What is foreign and what is absent cannot be told apart: by status, body, headers or time, in anything one can do."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.isolation.town import Somebody, Town, only
from tests.worlds.thoroughness import some

ROUNDS = 30
WARM_UP = 3

ON_CONVERSATIONS: list[tuple[str, str, Any]] = [
    ("GET", "", None),
    ("PATCH", "", {"title": "Mine"}),
    ("DELETE", "", None),
    ("GET", "/messages", None),
    ("GET", "/messages?order=asc&limit=1", None),
    ("POST", "/exports", None),
    ("GET", "/summary", None),
    ("POST", "/summary/approve", {"summaryId": "s"}),
    ("POST", "/carry", {"organisation": "elsewhere"}),
]
ON_MESSAGES: list[tuple[str, str, Any]] = [
    ("POST", "/feedback", {"rating": "up"}),
    ("POST", "/regenerate", None),
    ("GET", "/context", None),
]


@dataclass(frozen=True)
class Neighbours:
    """Somebody with a conversation, and others who try to reach it."""

    town: Town
    owner: Somebody
    conversation: str
    message: str
    answer: str
    others: dict[str, Somebody]


@pytest.fixture(scope="module")
def neighbours(town: Town) -> Neighbours:
    user = town.user()
    owner = town.member(user, town.acme)
    said = owner.say()
    others = {
        "the same person in another organisation": town.member(user, town.zeta),
        "another member": town.member(town.user(), town.acme),
        "a visitor of the same organisation": town.visitor(town.acme),
        "a visitor of another one": town.visitor(town.zeta),
    }
    return Neighbours(town, owner, said["conversationId"], said["messageId"], said["answerId"], others)


OTHERS = [
    "the same person in another organisation",
    "another member",
    "a visitor of the same organisation",
    "a visitor of another one",
]


@pytest.mark.parametrize(("who", "what"), some([*product(OTHERS, ON_CONVERSATIONS)], 2, "conversation"), ids=str)
def test_a_foreign_conversation_is_an_absent_one(neighbours: Neighbours, who: str, what: tuple[str, str, Any]) -> None:
    method, rest, body = what
    other = neighbours.others[who]
    ids = (neighbours.conversation, str(uuid4()), "no-id-of-ours")
    status, content, _ = only(other.send(method, f"/v1/conversations/{one}{rest}", body) for one in ids)
    assert status == 404
    assert content == {"error": "There is nothing at this address.", "code": "not_found", "requestId": ""}


@pytest.mark.parametrize(("who", "what"), some([*product(OTHERS, ON_MESSAGES)], 2, "messages"), ids=str)
def test_a_foreign_message_is_an_absent_one(neighbours: Neighbours, who: str, what: tuple[str, str, Any]) -> None:
    method, rest, body = what
    other = neighbours.others[who]
    absent = str(uuid4())
    ids = (neighbours.message, neighbours.answer, absent, f"{absent}.1")
    status, _, _ = only(other.send(method, f"/v1/messages/{one}{rest}", body) for one in ids)
    assert status == 404


@pytest.mark.parametrize("who", OTHERS)
def test_nobody_goes_on_with_a_foreign_conversation(neighbours: Neighbours, who: str) -> None:
    other = neighbours.others[who]
    said = {"message": "What did we say before?"}
    answers = [
        other.send("POST", "/v1/chat", {**said, "conversationId": one})
        for one in (neighbours.conversation, str(uuid4()))
    ]
    assert only(answers)[0] == 404
    assert neighbours.town.stack.provider.calls() == 0


@pytest.mark.parametrize("who", OTHERS)
def test_an_id_of_somebody_elses_message_is_free_to_use(neighbours: Neighbours, who: str) -> None:
    """Ids of messages are each owner's own: that one is taken elsewhere can be seen by nothing."""
    other = neighbours.others[who]
    said = other.say(messageId=neighbours.message)
    assert said["messageId"] == neighbours.message
    assert said["conversationId"] != neighbours.conversation


@pytest.mark.parametrize(("method", "rest"), [("GET", ""), ("GET", "/messages"), ("DELETE", "")])
def test_time_tells_nothing(neighbours: Neighbours, method: str, rest: str) -> None:
    """Medians of many requests, in turn, differ by less than requests of one kind differ among themselves."""
    other = neighbours.others["another member"]
    foreign, absent = _timed(other, method, rest, neighbours.conversation)
    noise = max(_spread(foreign), _spread(absent))
    assert abs(statistics.median(foreign) - statistics.median(absent)) <= noise


def test_nothing_was_changed_by_all_of_this(neighbours: Neighbours) -> None:
    row = neighbours.owner.client.get(f"/v1/conversations/{neighbours.conversation}")
    assert row["title"] != "Mine"
    assert [message["id"] for message in neighbours.owner.client.messages(neighbours.conversation)] == [
        neighbours.message,
        neighbours.answer,
    ]


def _timed(other: Somebody, method: str, rest: str, foreign_id: str) -> tuple[list[float], list[float]]:
    """Ask for both in turn, so that whatever else this machine does slows both alike."""
    foreign: list[float] = []
    absent: list[float] = []
    for times, one in _in_turn(foreign, absent, foreign_id):
        began = time.perf_counter()
        other.send(method, f"/v1/conversations/{one}{rest}")
        times.append(time.perf_counter() - began)
    return foreign[WARM_UP:], absent[WARM_UP:]


def _in_turn(foreign: list[float], absent: list[float], foreign_id: str) -> Iterator[tuple[list[float], str]]:
    for number in range(ROUNDS + WARM_UP):
        pair = [(foreign, foreign_id), (absent, str(uuid4()))]
        yield from pair if number % 2 else reversed(pair)


def _spread(times: list[float]) -> float:
    """Return how far the middle half of the times lies apart."""
    lower, _, upper = statistics.quantiles(times, n=4)
    return upper - lower
