"""Reading, approving and carrying a summary, over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from fencepost.conversations.domain.messages import Conversation
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Organisation
from fencepost.identity.service import SiteService
from fencepost.lifecycle.routes.carry import CarryRoutes
from fencepost.lifecycle.service.carry import CarryService
from fencepost.memory.domain.summaries import (
    Summary,
    SummaryLine,
    carried_part,
    content_hash,
    kept_lines,
    next_step,
    still_holds,
    summary_prompt,
)
from tests.fakes.carrying import FakeCarryStore
from tests.fakes.conversations import owned
from tests.fakes.memory import FakeMemory
from tests.worlds.api import DEFAULTS, ApiWorld, exchange
from tests.worlds.chat import NOON, Reply
from tests.worlds.jobs import text_of

SUMMARY = Summary(
    id="s1",
    lines=(SummaryLine("They chose the blue one.", ("c1-1", "c1-1.1")),),
    first_seq=1,
    last_seq=2,
    content_hash="0" * 64,
    prompt_version="summary-1",
    model="claude-haiku-4-5",
    created_at=NOON,
)


@dataclass
class CarryWorld:
    """The API with a conversation in `acme` that has a summary; its owner is a member of `zeta` as well."""

    api: ApiWorld = field(default_factory=ApiWorld)

    def __post_init__(self) -> None:
        shelf = self.api.store.shelf
        self.memory = FakeMemory(
            conversation=lambda scope, one: shelf.conversations.get(owned(scope, one)),
            update=lambda scope, row: shelf.conversations.update({owned(scope, row.id): row}),
        )
        self.api.more_routes = CarryRoutes(self._service()).routes()
        self.row = self.api.converse(self.scope, "c1")
        self.memory.write_summary(self.scope, "c1", self.row.incarnation, SUMMARY)
        self.allow("acme", "zeta")

    def _service(self) -> CarryService:
        api = self.api
        return CarryService(
            conversations=api.store,
            memory=self.memory,
            store=FakeCarryStore(api.store, self.memory, api.directory),
            directory=api.directory,
            sites=SiteService(api.directory, DEFAULTS),
            clock=api.clock,
        )

    @property
    def scope(self) -> Scope:
        return self.api.member_scope()

    def allow(self, *orgs: str) -> None:
        """Let these organisations' summaries leave and come, and nobody else's."""
        for org in ("acme", "zeta"):
            self.api.directory.add_organisation(Organisation(id=org, default_site="docs", allows_carry=org in orgs))

    def ask(self, method: str, rest: str, body: object = None, who: Mapping[str, str] | None = None) -> Reply:
        return self.api.ask(method, f"/v1/conversations/{rest}", who or self.api.member(), body)

    def approve(self, summary_id: str = "s1") -> Reply:
        return self.ask("POST", "c1/summary/approve", {"summaryId": summary_id})

    def carry(self, **body: object) -> Reply:
        return self.ask("POST", "c1/carry", {"organisation": "zeta", **body})

    def began(self) -> list[Conversation]:
        """Return the conversations of `zeta`."""
        return [row for (org, *_), row in self.api.store.shelf.conversations.items() if org == "zeta"]


@pytest.fixture
def world() -> CarryWorld:
    return CarryWorld()


def test_a_summary_is_read_with_its_sources(world: CarryWorld) -> None:
    body = world.ask("GET", "c1/summary").json
    assert body["lines"] == [{"text": "They chose the blue one.", "sources": ["c1-1", "c1-1.1"]}]
    assert (body["id"], body["firstSeq"], body["lastSeq"], body["approved"]) == ("s1", 1, 2, False)
    assert body["createdAt"] == "2026-03-14T12:00:30Z"


def test_an_approved_summary_begins_a_conversation_elsewhere(world: CarryWorld) -> None:
    assert world.approve().json["approved"] is True
    reply = world.carry()
    assert (reply.status, reply.json["carriedFrom"], reply.json["site"]) == (201, "s1", "docs")
    there = world.api.member(org="zeta")
    body = world.ask("GET", f"{reply.json['id']}/summary", who=there).json
    assert body["lines"] == [{"text": "They chose the blue one.", "sources": ["summary:s1"]}]
    assert body["approved"] is False
    assert world.ask("GET", reply.json["id"]).code == "not_found"


def test_the_conversation_itself_stays_where_it_began(world: CarryWorld) -> None:
    world.approve()
    before = world.api.store.get(world.scope, "c1"), world.memory.summary(world.scope, "c1")
    world.carry()
    assert (world.api.store.get(world.scope, "c1"), world.memory.summary(world.scope, "c1")) == before
    assert world.ask("GET", "c1", who=world.api.member(org="zeta")).code == "not_found"


def test_a_carried_summary_holds_though_it_covers_no_message(world: CarryWorld) -> None:
    world.approve()
    conversation_id = world.carry().json["id"]
    carried = world.memory.summary(world.api.member_scope(org="zeta"), conversation_id)
    assert carried is not None
    assert (carried.first_seq, carried.last_seq, carried.content_hash) == (1, 0, content_hash(()))
    assert still_holds(carried, ())


def test_what_was_carried_is_summarised_with_what_follows_and_outlives_it(world: CarryWorld) -> None:
    world.approve()
    scope = world.api.member_scope(org="zeta")
    summary = world.memory.summary(scope, world.carry().json["id"])
    assert summary is not None
    asked, told = exchange("new", 1, world.api.clock)
    step = next_step(summary, (asked, told), through=2)
    assert step is not None
    assert "They chose the blue one. [msg:0]" in text_of(summary_prompt(step, "0" * 16))
    lines = kept_lines("- They chose the blue one. [msg:0]\n- They go on. [msg:1]", step, 8_000)
    assert [line.sources for line in lines] == [("summary:s1",), ("new-1",)]
    later = replace(summary, lines=lines, last_seq=2, content_hash="1" * 64)
    assert carried_part(later) == summary


def test_what_was_not_approved_is_not_carried(world: CarryWorld) -> None:
    assert world.carry().code == "summary_not_approved"
    assert world.began() == []


def test_nobody_approves_what_they_have_not_read(world: CarryWorld) -> None:
    world.memory.write_summary(world.scope, "c1", world.row.incarnation, replace(SUMMARY, id="s2"))
    assert world.approve("s1").code == "summary_not_approved"
    assert world.carry().code == "summary_not_approved"


def test_a_summary_that_was_extended_since_is_to_be_approved_anew(world: CarryWorld) -> None:
    world.approve()
    world.memory.write_summary(world.scope, "c1", world.row.incarnation, replace(SUMMARY, id="s2"))
    assert world.carry().code == "summary_not_approved"


@pytest.mark.parametrize("allowing", [(), ("acme",), ("zeta",)])
def test_both_organisations_must_allow_it(world: CarryWorld, allowing: tuple[str, ...]) -> None:
    world.approve()
    world.allow(*allowing)
    assert world.carry().code == "carry_not_allowed"
    assert world.began() == []


def test_it_is_carried_only_where_one_is_a_member(world: CarryWorld) -> None:
    world.approve()
    world.api.directory.revoke("zeta", "u1")
    absent, revoked = world.carry(organisation="nowhere"), world.carry()
    assert (absent.status, absent.text, absent.headers) == (404, revoked.text, revoked.headers)
    assert world.began() == []


def test_a_membership_that_ends_in_the_last_moment_is_noticed(world: CarryWorld) -> None:
    world.approve()
    read = world.api.directory.membership

    def ends_after_it_was_read(org: str, user: str) -> object:
        membership = read(org, user)
        if org == "zeta" and membership and membership.active:
            world.api.directory.revoke("zeta", "u1")
        return membership

    world.api.directory.membership = ends_after_it_was_read  # type: ignore[assignment]  # a race, played once
    assert world.carry().code == "not_found"
    assert world.began() == []


def test_a_visitor_has_nowhere_to_carry_it(world: CarryWorld) -> None:
    scope = world.api.scope()
    row = world.api.converse(scope, "v1")
    world.memory.write_summary(scope, "v1", row.incarnation, replace(SUMMARY, approved=True))
    reply = world.ask("POST", "v1/carry", {"organisation": "zeta"}, world.api.visitor())
    assert reply.code == "carry_not_allowed"


def test_the_same_organisation_is_no_other_one(world: CarryWorld) -> None:
    world.approve()
    assert world.carry(organisation="acme").code == "carry_invalid"


@pytest.mark.parametrize("body", [{}, {"organisation": ""}, {"organisation": 1}, {"organisation": "z" * 64}])
def test_the_organisation_must_be_named(world: CarryWorld, body: dict[str, object]) -> None:
    assert world.ask("POST", "c1/carry", body).code == "carry_invalid"


@pytest.mark.parametrize("body", [{}, {"summaryId": None}, {"summaryId": ""}, {"summaryId": "s" * 65}])
def test_the_summary_must_be_named(world: CarryWorld, body: dict[str, object]) -> None:
    assert world.ask("POST", "c1/summary/approve", body).code == "summary_id_invalid"


def test_a_site_of_the_other_organisation_can_be_named(world: CarryWorld) -> None:
    world.approve()
    world.api.directory.add_site("zeta", "shop")
    assert world.carry(site="zeta-shop").json["site"] == "shop"
    for foreign in ("acme-docs", "nowhere"):
        assert world.carry(site=foreign).code == "site_unknown"


def test_without_a_summary_there_is_nothing_to_read_approve_or_carry(world: CarryWorld) -> None:
    world.api.converse(world.scope, "c2")
    for reply in (
        world.ask("GET", "c2/summary"),
        world.ask("POST", "c2/summary/approve", {"summaryId": "s1"}),
        world.ask("POST", "c2/carry", {"organisation": "zeta"}),
    ):
        assert (reply.status, reply.code) == (409, "summary_missing")


def test_absent_and_foreign_are_one_answer(world: CarryWorld) -> None:
    stranger = world.api.member("u2")
    world.api.directory.grant("acme", "u2")
    for rest, body in (
        ("summary", None),
        ("summary/approve", {"summaryId": "s1"}),
        ("carry", {"organisation": "zeta"}),
    ):
        method = "GET" if body is None else "POST"
        foreign = world.ask(method, f"c1/{rest}", body, stranger)
        absent = world.ask(method, f"nowhere/{rest}", body, stranger)
        assert (foreign.status, foreign.text, foreign.headers) == (404, absent.text, absent.headers)
