"""Two people of two organisations at the same time, in the same warm process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx

from tests.integration.isolation.town import Somebody, Town
from tests.worlds.api_client import waited_for

TURNS = 3
_STARTING_SECONDS = 120.0


def test_two_at_once_never_meet(town: Town) -> None:
    user = town.user()
    both = [town.member(user, town.acme), town.member(town.user(), town.zeta), town.member(user, town.zeta)]
    with ThreadPoolExecutor(len(both)) as pool:
        list(pool.map(_warmed, both))
        town.stack.provider.reset()
        conversations = list(pool.map(_converse, both))
    for somebody, conversation_id in zip(both, conversations, strict=True):
        messages = somebody.client.messages(conversation_id)
        assert [message["seq"] for message in messages] == list(range(1, 2 * TURNS + 1))
        assert town.owners_in(str(messages)) == {somebody.name}
    prompts = [town.owners_in(str(body)) for body in town.stack.provider.bodies()]
    assert {frozenset(owners) for owners in prompts if owners} == {frozenset({each.name}) for each in both}


def test_one_warm_process_serves_them_all(town: Town) -> None:
    """One after the other, so that one instance answers both, whatever else is warm."""
    first, second = town.visitor(town.acme), town.visitor(town.zeta)
    for _ in range(3):
        for somebody in (first, second):
            somebody.begin()
            assert town.owners_in(str(town.stack.provider.body())) == {somebody.name}


def _warmed(somebody: Somebody) -> None:
    """Ask until both functions answer: the emulator starts processes one by one, and is late on a busy machine."""
    for request in (("POST", "/v1/chat", {"message": "Hello, is anybody there?"}), ("GET", "/v1/conversations", None)):
        waited_for(partial(_status, somebody, *request), lambda status: status == 200, _STARTING_SECONDS)


def _status(somebody: Somebody, method: str, path: str, body: object) -> int:
    try:
        return somebody.send(method, path, body).status_code
    except httpx.TimeoutException:
        return 0


def _converse(somebody: Somebody) -> str:
    conversation_id: str = somebody.say()["conversationId"]
    for _ in range(TURNS - 1):
        somebody.say(conversation_id)
        somebody.send("GET", f"/v1/conversations/{conversation_id}/messages")
    return conversation_id
