"""Whose model, caps and retention a turn goes by: those of the site that its conversation is on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.identity.domain.sites import Organisation, Retention
from fencepost.kernel.errors import ErrorCode
from fencepost.model.domain import ModelError
from tests.worlds.chat import fails
from tests.worlds.turn import ANN, TurnWorld
from tests.worlds.turn_scenes import QUESTION, member, refused


@pytest.fixture
def world() -> TurnWorld:
    return TurnWorld()


def shop(world: TurnWorld, *, active: bool = True) -> str:
    """Return a member's conversation on a site that is not the organisation's default, and keeps messages for long."""
    world.directory.grant("acme", "u1")
    world.directory.sites["acme", "docs"] = replace(world.directory.sites["acme", "docs"], retention=Retention(days=1))
    world.directory.add_site("acme", "shop", retention=Retention(days=90))
    conversation = world.say("Hello", "m0", caller=member(world), site="acme-shop").conversation_id
    world.directory.add_site("acme", "shop", retention=Retention(days=90), active=active)
    return conversation


def kept(world: TurnWorld) -> list[tuple[str, int]]:
    return [(row.site, row.keep_days) for row in world.shelf.conversations.values()]


@pytest.mark.parametrize("site", [None, "acme-shop"])
def test_a_conversation_goes_on_under_its_own_sites_rules(world: TurnWorld, site: str | None) -> None:
    conversation = shop(world)
    world.clock.advance(5 * 86_400)
    world.say(QUESTION, "m1", conversation, caller=member(world), site=site)
    assert [site.id for site in world.answered_on] == ["shop", "shop"]
    assert kept(world) == [("shop", 90)]
    # The claim that fits is the only one where the site is named, or the default.
    assert len(world.turns.claims) == (3 if site is None else 2)


def test_a_conversation_is_not_continued_on_another_site(world: TurnWorld) -> None:
    conversation = shop(world)
    error = refused(lambda: world.say(QUESTION, "m1", conversation, caller=member(world), site="acme-docs"))
    assert error.code is ErrorCode.SITE_MISMATCH
    assert kept(world) == [("shop", 90)]
    assert len(world.answered_on) == len(world.model.prompts) == 1
    assert [one.id for one in world.messages(conversation, caller=member(world))] == ["m0", "m0.1"]


def test_a_first_message_is_retried_on_the_site_where_it_began(world: TurnWorld) -> None:
    shop(world)
    reply = world.model.reply
    world.model.reply = fails(ModelError(ErrorCode.PROVIDER_FAILED, usage=None))
    refused(lambda: world.say(QUESTION, "m1", caller=member(world), site="acme-shop"))
    world.model.reply = reply
    assert (
        refused(lambda: world.say(QUESTION, "m1", caller=member(world), site="acme-docs")).code
        is ErrorCode.SITE_MISMATCH
    )
    world.say(QUESTION, "m1", caller=member(world))
    assert world.answered_on[-1].id == "shop"
    assert kept(world) == [("shop", 90)] * 2


def test_a_conversation_on_a_closed_site_does_not_go_on(world: TurnWorld) -> None:
    conversation = shop(world, active=False)
    error = refused(lambda: world.say(QUESTION, "m1", conversation, caller=member(world)))
    assert error.code is ErrorCode.SITE_UNKNOWN
    assert len(world.model.prompts) == 1


def test_a_default_site_that_is_closed_does_not_close_the_others(world: TurnWorld) -> None:
    conversation = shop(world)
    world.directory.add_site("acme", "docs", active=False)
    world.say(QUESTION, "m1", conversation, caller=member(world))
    assert world.answered_on[-1].id == "shop"
    for absent in ("unknown", None):
        code = refused(lambda absent=absent: world.say(QUESTION, "m2", absent, caller=member(world))).code  # type: ignore[misc]
        assert code is (ErrorCode.NOT_FOUND if absent else ErrorCode.SITE_UNKNOWN)


def test_what_began_outside_all_sites_is_on_the_default_one_once_there_is_one(world: TurnWorld) -> None:
    world.directory.grant("acme", "u1")
    world.directory.add_organisation(Organisation(id="acme"))
    conversation = world.say("Hello", "m0", caller=member(world)).conversation_id
    world.directory.add_organisation(Organisation(id="acme", default_site="docs"))
    world.say(QUESTION, "m1", conversation, caller=member(world))
    assert [site.id for site in world.answered_on] == ["", "docs"]
    assert kept(world) == [("", 0)]


def test_a_visitor_stays_on_their_site(world: TurnWorld) -> None:
    conversation = world.say("Hello", "m0").conversation_id
    world.directory.add_site("acme", "shop")
    error = refused(lambda: world.say(QUESTION, "m1", conversation, caller=replace(ANN, site="shop")))
    assert error.code is ErrorCode.SITE_MISMATCH
