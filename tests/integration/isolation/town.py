"""Two organisations, who lives there, and a marker in everything that anybody says.

A marker is a word that nobody says but its owner: wherever one appears, somebody's words do. What one owner's markers
may never be found in is checked after each test: another's prompt, an answer, a log line, an error.
"""

from __future__ import annotations

import json
import re
import secrets
import string
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from fencepost.identity.domain.scope import Action, Member, Scope, authorize, own
from fencepost.identity.dynamodb.directory import DynamoDbDirectory
from tests.doubles.stack import Stack
from tests.worlds.api_client import ApiClient

_RANDOM = ("x-request-id", "x-amz", "date")
"""Headers that differ between any two answers: the gateway's ids."""
_MARKER = re.compile(r"marker[a-z]{16}")


@dataclass(frozen=True)
class Somebody:
    """A caller who plants markers.

    Attributes:
        name: whose words they are: one person in one organisation.
        heard: every answer that they got, as it came.
    """

    name: str
    client: ApiClient
    town: Town
    heard: list[httpx.Response] = field(default_factory=list)

    def send(self, method: str, path: str, body: object = None) -> httpx.Response:
        """Send a request, and keep the answer for the search for markers."""
        answer = self.client.send(method, path, body)
        self.heard.append(answer)
        return answer

    def say(self, conversation_id: str | None = None, **fields: object) -> Any:
        """Say something with a marker of one's own, and return the answer."""
        known = {} if conversation_id is None else {"conversationId": conversation_id}
        message = f"Please remember that my word is {self.town.marker(self.name)}. How do I install it?"
        answer = self.send("POST", "/v1/chat", {"message": message, **known, **fields})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def begin(self, turns: int = 1) -> str:
        """Begin a conversation, and return its id."""
        conversation_id: str = self.say()["conversationId"]
        for _ in range(turns - 1):
            self.say(conversation_id)
        return conversation_id

    def everything(self) -> str:
        """Return all that this caller can read, as text."""
        conversations = self.client.get("/v1/conversations?limit=100")["items"]
        said = [self.client.messages(row["id"]) for row in conversations]
        return json.dumps([conversations, said, self.client.get("/v1/facts")])


@dataclass
class Town:
    """A deployed stack with two organisations of its own."""

    stack: Stack
    acme: str = field(default_factory=lambda: f"acme-{uuid4().hex[:8]}")
    zeta: str = field(default_factory=lambda: f"zeta-{uuid4().hex[:8]}")
    owners: dict[str, str] = field(default_factory=dict)
    """By marker, whose it is."""
    people: list[Somebody] = field(default_factory=list)
    shared: set[frozenset[str]] = field(default_factory=set)
    """Pairs of owners who are one person, and carried words from the one to the other."""

    def __post_init__(self) -> None:
        for org in (self.acme, self.zeta):
            self.stack.site(org, "docs")

    def visitor(self, org: str) -> Somebody:
        """Return a new visitor of an organisation's site."""
        return self._moved_in(f"visitor {uuid4().hex} of {org}", self.stack.visitor(f"{org}-docs"))

    def member(self, user: str, org: str) -> Somebody:
        """Return a member of an organisation: made one here."""
        self.stack.grant(org, user)
        return self.stranger(user, org)

    def stranger(self, user: str, org: str) -> Somebody:
        """Return somebody with a good token who may be a member or not."""
        return self._moved_in(f"{user} in {org}", self.stack.member(user, org))

    def user(self) -> str:
        """Return the name of a user that nobody had before."""
        return f"user-{uuid4().hex[:12]}"

    def marker(self, owner: str) -> str:
        """Return a new word of an owner."""
        word = "marker" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(16))
        self.owners[word] = owner
        return word

    def owners_in(self, text: str) -> set[str]:
        """Return whose words stand in a text."""
        return {self.owners[word] for word in _MARKER.findall(text) if word in self.owners}

    def mixed_prompts(self) -> list[set[str]]:
        """Return, for each prompt with words of several owners, whose they are."""
        prompts = (self.owners_in(json.dumps(body)) for body in self.stack.provider.bodies())
        return [owners for owners in prompts if len(owners) > 1 and owners not in self.shared]

    def told_to_others(self) -> list[tuple[str, set[str]]]:
        """Return who heard words of somebody else."""
        heard = ((each.name, self.owners_in(_all_of(answer))) for each in self.people for answer in each.heard)
        return [(name, owners) for name, owners in heard if owners - {name} and owners | {name} not in self.shared]

    def logged(self) -> list[str]:
        """Return the log lines in which anybody's words stand."""
        return [line for line in self.stack.logs() if self.owners_in(line)]

    def scope(self, user: str, org: str) -> Scope:
        """Return the scope of a member's own data, for what jobs are made of."""
        endpoint = self.stack.client("dynamodb")
        directory = DynamoDbDirectory(self.stack.physical("DirectoryTable"), lambda: endpoint)
        caller = Member(org, user, directory.membership(org, user))
        return authorize(caller, Action.WRITE, own(caller))

    def _moved_in(self, name: str, client: ApiClient) -> Somebody:
        somebody = Somebody(name, client, self)
        self.people.append(somebody)
        return somebody


def shape(answer: httpx.Response) -> tuple[int, object, dict[str, str]]:
    """Return what can be told of an answer: status, body and headers, without what differs between any two."""
    body = {**answer.json(), "requestId": ""}
    headers = {name: value for name, value in answer.headers.items() if not name.startswith(_RANDOM)}
    return answer.status_code, body, headers


def only(answers: Iterable[httpx.Response]) -> tuple[int, object, dict[str, str]]:
    """Return the one shape that all of the answers have."""
    shapes = [shape(answer) for answer in answers]
    assert all(each == shapes[0] for each in shapes), shapes
    return shapes[0]


def _all_of(answer: httpx.Response) -> str:
    return f"{answer.text}\n{answer.headers}"
