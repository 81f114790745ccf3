"""What follows an answer, on the deployed stack: stream, relay, queue, worker, and the bill that it is paid from."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.doubles.stack import Stack

_PATIENCE_SECONDS = 60.0
_MOST_TURNS = 90
"""Of one conversation. A window holds twenty; each turn after that asks for the summary that is not there yet."""


class Browser:
    """A visitor of the demo site."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        answer = stack.http.post("/v1/visitors", json={"site": "demo"})
        self.headers = {"Authorization": f"Bearer {answer.json()['token']}"}
        self.conversation: str | None = None

    def say(self, message: str) -> dict[str, Any]:
        body = {"message": message} | ({"conversationId": self.conversation} if self.conversation else {})
        reply = self.stack.http.post("/v1/chat", json=body, headers=self.headers)
        assert reply.status_code == httpx.codes.OK, reply.text
        said: dict[str, Any] = reply.json()
        self.conversation = said["conversationId"]
        return said

    def get(self, path: str) -> httpx.Response:
        return self.stack.http.get(f"/v1/{path}", headers=self.headers)

    def own(self, path: str = "") -> httpx.Response:
        return self.get(f"conversations/{self.conversation}{path}")


@pytest.fixture
def browser(stack: Stack) -> Browser:
    return Browser(stack)


def eventually[T](look: Callable[[], T]) -> T:
    """Return what is looked for once it is there: background work takes its time."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return found


def waiting(stack: Stack, queue: str, attribute: str = "ApproximateNumberOfMessages") -> int:
    """Return how many messages a queue holds."""
    sqs = stack.client("sqs")
    answer = sqs.get_queue_attributes(QueueUrl=stack.physical(queue), AttributeNames=[attribute])
    return int(answer["Attributes"][attribute])


def test_a_conversation_gets_its_title_from_its_first_message(browser: Browser) -> None:
    browser.say("How do I get started with the sample site?")
    assert eventually(lambda: browser.own().json()["title"]) == "How do I get started with the sample site?"


def test_a_title_that_was_chosen_stays(browser: Browser) -> None:
    browser.say("Hello")
    eventually(lambda: browser.own().json()["title"])
    reply = browser.stack.http.patch(
        f"/v1/conversations/{browser.conversation}", json={"title": "Mine"}, headers=browser.headers
    )
    assert reply.json()["title"] == "Mine"
    browser.say("And again")
    eventually(lambda: waiting(browser.stack, "JobsQueue") == 0)
    assert browser.own().json()["title"] == "Mine"


def test_a_long_conversation_is_summarised_and_paid_for(browser: Browser) -> None:
    summary: list[dict[str, Any]] = []
    for number in range(_MOST_TURNS):
        browser.say(f"Please tell me about topic number {number}. I use release {number} myself.")
        if summary := browser.own("/summary").json().get("lines", []):
            break
    assert summary
    messages = {message["id"] for message in browser.own("/messages?limit=100&order=asc").json()["items"]}
    assert all(set(line["sources"]) <= messages and line["sources"] for line in summary)
    admissions = [line for line in map(_event, browser.stack.logs()) if line.get("event") == "admission"]
    jobs = [line for line in map(_event, browser.stack.logs()) if line.get("event") == "job"]
    assert ("summarise", "done") in {(line["purpose"], line["result"]) for line in jobs}
    assert len(admissions) > number + 1  # A permit for each answer, and those of the summary.
    said = browser.say("What did I ask first?")
    layers = browser.get(f"messages/{said['messageId']}/context").json()["layers"]
    assert [layer["tokens"] > 0 for layer in layers if layer["layer"] == "summary"] == [True]


def test_poison_stays_behind_and_the_others_are_done(stack: Stack, browser: Browser) -> None:
    stack.client("sqs").send_message(QueueUrl=stack.physical("JobsQueue"), MessageBody="poison")
    browser.say("What comes after a poisoned message?")
    assert eventually(lambda: browser.own().json()["title"]) == "What comes after a poisoned message?"

    def unreadable() -> int:
        batches = (line for line in map(_event, stack.logs()) if line.get("source") == "queue")
        return sum(line["unreadable"] for line in batches)

    assert eventually(unreadable) >= 1
    # It waits for its next attempt, as others may that failed.
    assert waiting(stack, "JobsQueue", "ApproximateNumberOfMessagesNotVisible") >= 1
    assert not any("poison" in line for line in stack.logs() if "poisoned" not in line)


def test_a_job_of_what_was_erased_is_refused(stack: Stack, browser: Browser) -> None:
    browser.say("Forget me soon.")
    stack.http.delete(f"/v1/conversations/{browser.conversation}", headers=browser.headers)
    refused = {
        "org": "demo",
        "owner": "visitor:nobody",
        "actor": "visitor:nobody",
        "purpose": "summarise",
        "permission_version": 0,
        "created_at": "2026-03-01T12:00:00Z",
        "site": "demo",
        "conversation": browser.conversation,
        "incarnation": "another",
    }
    stack.client("sqs").send_message(QueueUrl=stack.physical("JobsQueue"), MessageBody=json.dumps(refused))

    def reasons() -> set[str]:
        return {line.get("reason", "") for line in map(_event, stack.logs()) if line.get("event") == "job"}

    assert eventually(lambda: "conversation_gone" in reasons())


def _event(line: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
