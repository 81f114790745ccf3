"""Random users, grants, revocations, turns and jobs: prompts contain only data that the caller may read."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from fencepost.queue.domain import Purpose
from tests.worlds.isolation_machine import ORGS, USERS, Moment, Person, WatchedTown
from tests.worlds.thoroughness import examples

PEOPLE: list[Person] = [(user, org) for user in USERS for org in ORGS]
MOMENTS: list[Moment] = ["claim", "load", "reserve", "never", "never", "never"]
PURPOSES = [Purpose.SUMMARISE, Purpose.PROPOSE_FACTS, Purpose.TITLE, Purpose.REMEMBER]

people = st.sampled_from(PEOPLE)


class Isolation(RuleBasedStateMachine):
    """The invariant itself is `WatchedTown._watch`, which looks at each prompt at its moment."""

    def __init__(self) -> None:
        super().__init__()
        self.town = WatchedTown()

    @initialize(members=st.sets(people, min_size=2))
    def begin(self, members: set[Person]) -> None:
        for person in sorted(members):
            self.town.grant(person)

    @rule(person=people)
    def grant(self, person: Person) -> None:
        self.town.grant(person)

    @rule(person=people)
    def revoke(self, person: Person) -> None:
        self.town.revoke(person)

    @rule(person=people, data=st.data(), moment=st.sampled_from(MOMENTS), other=people)
    def speak(self, person: Person, data: st.DataObject, moment: Moment, other: Person) -> None:
        conversation = data.draw(st.sampled_from([None, *self.town.conversations()]))
        self.town.turns.clock.advance(60)
        self.town.speak(person, conversation, moment, data.draw(st.sampled_from([person, other])))

    @rule(talking=st.lists(people, min_size=1, max_size=3))
    def chat(self, talking: list[Person]) -> None:
        """Let people who may speak do so, one after the other, each somewhere else than before."""
        for person in filter(self.town.is_member, talking):
            self.town.turns.clock.advance(60)
            assert self.town.speak(person, None, "never", person)

    @rule(person=people, data=st.data(), purpose=st.sampled_from(PURPOSES), other=people)
    def work(self, person: Person, data: st.DataObject, purpose: Purpose, other: Person) -> None:
        if conversations := self.town.conversations():
            conversation = data.draw(st.sampled_from(conversations))
            self.town.turns.clock.advance(600)
            self.town.work(person, conversation, purpose, data.draw(st.sampled_from([person, person, other])))

    @rule(person=people)
    def pin(self, person: Person) -> None:
        self.town.pin(person)

    @rule(person=people)
    def mislay(self, person: Person) -> None:
        self.town.memory.mislay(person[1], f"member:{person[0]}")

    @rule(person=people, data=st.data())
    def erase(self, person: Person, data: st.DataObject) -> None:
        if conversations := self.town.conversations():
            self.town.erase(person, data.draw(st.sampled_from(conversations)))


def test_no_prompt_holds_what_its_caller_may_not_read() -> None:
    slow: Any = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        Isolation,
        settings=settings(max_examples=examples(90), stateful_step_count=25, suppress_health_check=slow),
    )


def test_the_watch_sees_what_it_is_there_for() -> None:
    """Content of another owner in a conversation, as a store without scopes would return it, is detected."""
    town, ann, ben = WatchedTown(), ("ann", "acme"), ("ben", "acme")
    town.grant(ann)
    town.grant(ben)
    assert town.speak(ann, None, "never", ann)
    [place] = town.turns.shelf.conversations
    shelf = town.turns.shelf
    shelf.messages[place] = [
        message.__class__(**{**_fields(message), "content": town.marker(ben)}) for message in shelf.messages[place]
    ]
    try:
        town.speak(ann, place[2], "never", ann)
    except AssertionError:
        return
    raise AssertionError("nobody noticed")


def test_the_town_is_alive() -> None:
    """Turns are answered, summaries and facts are made, and come into later prompts."""
    town, ann = WatchedTown(), ("ann", "acme")
    town.grant(ann)
    assert town.speak(ann, None, "never", ann)
    [conversation] = town.conversations()
    for _ in range(4):
        assert town.speak(ann, conversation, "never", ann)
        for purpose in PURPOSES:
            town.work(ann, conversation, purpose, ann)
    scope = town.scope(ann)
    assert town.jobs.memory.summary(scope, conversation)
    assert town.prompts > 5


def test_people_are_reminded_of_what_they_said_elsewhere_and_of_nothing_that_others_did() -> None:
    town, ann, ben = WatchedTown(), ("ann", "acme"), ("ben", "acme")
    for person in (ann, ben):
        town.grant(person)
        assert town.speak(person, None, "never", person)
    town.memory.mislay("acme", "member:ann")
    assert town.speak(ann, None, "never", ann)
    assert "marker-ann-acme-0" in town.last


def test_a_permission_that_ends_before_the_words_are_read_makes_no_prompt() -> None:
    for moment, prompts in (("claim", 1), ("load", 1), ("reserve", 2), ("never", 2)):
        town, ann = WatchedTown(), ("ann", "acme")
        town.grant(ann)
        assert town.speak(ann, None, "never", ann)
        town.speak(ann, town.conversations()[0], moment, ann)  # type: ignore[arg-type]  # one of the moments
        assert (moment, town.prompts) == (moment, prompts)


def _fields(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.__dataclass_fields__}
