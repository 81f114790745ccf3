"""Facts: written by their owner, proposed by a job, and never out of step with each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.identity.domain.sites import Fact, FactPolicy, FactState
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.facts import WantedFact, fact_tokens
from fencepost.model.domain import Prompt
from fencepost.queue.domain import Purpose
from tests.worlds.jobs import VISITOR, JobsWorld, scope_of, shown, text_of

ALL = tuple(FactState)


@pytest.fixture
def world() -> JobsWorld:
    world = JobsWorld()
    world.talk(1)
    world.ask.says = lambda _: "- Uses Linux. [msg:1]"
    return world


def policy(world: JobsWorld, facts: FactPolicy) -> None:
    site = world.directory.sites["acme", "docs"]
    world.directory.sites["acme", "docs"] = replace(site, facts=facts)


def propose(world: JobsWorld) -> None:
    world.run(world.job(Purpose.PROPOSE_FACTS))


def facts(world: JobsWorld, *states: FactState) -> list[Fact]:
    return list(world.memory.facts(scope_of(), *(states or ALL)))


def write(world: JobsWorld, *texts: str) -> None:
    world.facts.rewrite(scope_of(), VISITOR, [WantedFact(text) for text in texts])


def test_written_facts_are_pinned_by_their_owner(world: JobsWorld) -> None:
    write(world, "Uses Linux.", "Speaks French.")
    assert [(fact.text, fact.state, fact.pinned_by) for fact in facts(world)] == [
        ("Uses Linux.", FactState.PINNED, "owner"),
        ("Speaks French.", FactState.PINNED, "owner"),
    ]


def test_of_two_lists_written_at_once_one_stands_as_a_whole(world: JobsWorld) -> None:
    world.memory.interfere = lambda: write(world, "Theirs.")
    write(world, "Ours.")
    assert [fact.text for fact in facts(world, FactState.PINNED)] == ["Ours."]
    assert [fact.text for fact in facts(world, FactState.SUPERSEDED)] == ["Theirs."]


def test_a_limit_is_not_exceeded_by_two_who_write_at_once(world: JobsWorld) -> None:
    site = world.directory.sites["acme", "docs"]
    budgets = replace(site.budgets, facts_tokens=fact_tokens("Written meanwhile by them."))
    world.directory.sites["acme", "docs"] = replace(site, budgets=budgets, facts="trust")
    world.memory.interfere = lambda: write(world, "Written meanwhile by them.")
    propose(world)
    assert [fact.text for fact in facts(world, FactState.PINNED)] == ["Written meanwhile by them."]


def test_too_much_is_refused_and_changes_nothing(world: JobsWorld) -> None:
    write(world, "Uses Linux.")
    before = facts(world)
    with pytest.raises(FencepostError) as raised:
        write(world, *(f"Fact {number}." for number in range(33)))
    assert raised.value.code is ErrorCode.FACTS_TOO_LARGE
    assert facts(world) == before


def test_a_deleted_fact_is_gone_altogether(world: JobsWorld) -> None:
    write(world, "Uses Linux.")
    world.facts.delete(scope_of(), facts(world)[0].id)
    assert facts(world) == []
    with pytest.raises(FencepostError) as raised:
        world.facts.delete(scope_of(), "f9")
    assert raised.value.code is ErrorCode.NOT_FOUND


def test_superseded_facts_are_listed_only_when_asked_for(world: JobsWorld) -> None:
    write(world, "Uses Linux.")
    write(world, "Uses macOS.")
    assert [fact.text for fact in world.facts.listed(scope_of(), VISITOR)] == ["Uses macOS."]
    assert [fact.text for fact in world.facts.listed(scope_of(), VISITOR, superseded=True)] == [
        "Uses Linux.",
        "Uses macOS.",
    ]


def test_a_site_that_wants_no_proposals_pays_for_none(world: JobsWorld) -> None:
    propose(world)
    assert not world.ask.prompts


def test_a_proposal_waits_for_its_owner_and_says_where_it_came_from(world: JobsWorld) -> None:
    policy(world, "propose")
    propose(world)
    [fact] = facts(world)
    assert (fact.text, fact.state, fact.pinned_by, fact.provenance) == (
        "Uses Linux.",
        FactState.PROPOSED,
        "job",
        ("q1",),
    )
    world.facts.approve(scope_of(), VISITOR, fact.id)
    [approved] = facts(world)
    assert (approved.state, approved.pinned_by) == (FactState.PINNED, "owner")


def test_a_site_may_trust_proposals(world: JobsWorld) -> None:
    policy(world, "trust")
    propose(world)
    assert [(fact.state, fact.pinned_by) for fact in facts(world)] == [(FactState.PINNED, "job")]


def test_a_trusted_fact_takes_the_place_of_an_older_one(world: JobsWorld) -> None:
    policy(world, "trust")
    propose(world)
    world.talk(1)
    world.ask.says = lambda _: "- Uses macOS now. [msg:3] [fact:1]"
    propose(world)
    assert [(fact.text, fact.state) for fact in facts(world)] == [
        ("Uses Linux.", FactState.SUPERSEDED),
        ("Uses macOS now.", FactState.PINNED),
    ]


def test_answers_are_not_even_shown_to_what_proposes(world: JobsWorld) -> None:
    policy(world, "propose")
    world.ask.says = lambda _: "- The documents said so. [msg:2]\n- Both said so. [msg:1][msg:2]"
    propose(world)
    assert shown(world.ask.prompts[0]) == [1]
    assert "Answer to 1." not in text_of(world.ask.prompts[0])
    assert [(fact.text, fact.provenance) for fact in facts(world)] == [("Both said so.", ("q1",))]


def test_each_question_is_looked_at_once_however_often_the_job_comes(world: JobsWorld) -> None:
    policy(world, "propose")
    propose(world)
    propose(world)
    world.talk(2)
    propose(world)
    assert [shown(prompt) for prompt in world.ask.prompts] == [[1], [3, 5]]
    assert len(facts(world)) == 1


def test_a_job_that_failed_looks_at_the_same_questions_again(world: JobsWorld) -> None:
    policy(world, "propose")
    world.memory.faults.due.extend([None, None, "before"])
    with pytest.raises(FencepostError):
        propose(world)
    propose(world)
    assert [shown(prompt) for prompt in world.ask.prompts] == [[1], [1]]
    assert len(facts(world)) == 1


def test_an_answer_that_was_lost_proposes_nothing_twice(world: JobsWorld) -> None:
    policy(world, "propose")
    world.memory.faults.due.extend([None, None, "after"])
    with pytest.raises(FencepostError):
        propose(world)
    propose(world)
    assert len(facts(world)) == 1


def test_what_is_erased_meanwhile_is_not_brought_back(world: JobsWorld) -> None:
    policy(world, "trust")
    job = world.job(Purpose.PROPOSE_FACTS)

    def erase(_: Prompt) -> str:
        world.memory.erased["acme", VISITOR.owner] = world.clock()
        return "- Uses Linux. [msg:1]"

    world.ask.says = erase
    world.run(job)
    assert facts(world) == []


def test_a_conversation_that_is_erased_meanwhile_leaves_no_fact(world: JobsWorld) -> None:
    policy(world, "propose")

    def erase(_: Prompt) -> str:
        world.shelf.conversations.clear()
        return "- Uses Linux. [msg:1]"

    world.ask.says = erase
    propose(world)
    assert facts(world) == []


def test_nothing_to_note_is_nothing_noted(world: JobsWorld) -> None:
    policy(world, "propose")
    world.ask.says = lambda _: "-"
    propose(world)
    assert facts(world) == []
    assert world.events.jobs == [("done", None)]
