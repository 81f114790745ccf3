from __future__ import annotations

import pytest

from fencepost.access.service import Authorizer
from fencepost.identity.domain.scope import Action, Denied, Member, Membership, OrgRole, Resource, Visitor, own
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.domain.events import AuthorizationEvent
from tests.fakes.answers import FakeKeys
from tests.worlds.api import ApiWorld
from tests.worlds.chat import FakeEvents


class KeylessKeys(FakeKeys):
    def derive(self, purpose: str) -> bytes:
        raise FencepostError(ErrorCode.MISCONFIGURED)


@pytest.fixture
def events() -> FakeEvents:
    return FakeEvents()


def member(*, active: bool = True, role: OrgRole = OrgRole.MEMBER) -> Member:
    return Member("acme", "jane", Membership("acme", "jane", role, active, version=7))


def test_what_is_allowed_is_reported_with_the_permissions_version(events: FakeEvents) -> None:
    scope = Authorizer(FakeKeys(), events)(member(), Action.CHAT, own(member()))
    assert scope.owner == "member:jane"
    (event,) = events.of(AuthorizationEvent)
    assert (event.decision, event.action, event.caller, event.reason) == ("allowed", Action.CHAT, "member", None)
    assert event.permission_version == 7
    assert "jane" not in event.model_dump_json()


@pytest.mark.parametrize(
    ("caller", "resource", "reason"),
    [
        (member(active=False), Resource("acme", "member:jane"), "suspended"),
        (Member("acme", "jane", None), Resource("acme", "member:jane"), "not_a_member"),
        (member(), Resource("zeta", "member:jane"), "organisation_mismatch"),
        (Visitor("acme", "docs", "v1"), Resource("acme", "visitor:v2"), "owner_mismatch"),
    ],
)
def test_what_is_denied_is_reported_with_the_reason_that_nobody_is_told(
    caller: Member | Visitor, resource: Resource, reason: str, events: FakeEvents
) -> None:
    with pytest.raises(Denied, match="not_found"):
        Authorizer(FakeKeys(), events, at="job")(caller, Action.READ, resource)
    (event,) = events.of(AuthorizationEvent)
    assert (event.decision, event.reason, event.at) == ("denied", reason, "job")
    assert event.subject
    assert event.subject.org.startswith("org_")


def test_an_admins_look_names_the_admin_as_its_actor(events: FakeEvents) -> None:
    admin = member(role=OrgRole.ADMIN)
    Authorizer(FakeKeys(), events)(admin, Action.DIAGNOSE, Resource("acme", "visitor:v1"))
    (event,) = events.of(AuthorizationEvent)
    assert event.subject
    assert event.subject.actor
    assert event.subject.actor != event.subject.owner


def test_a_decision_does_not_wait_for_a_key(events: FakeEvents) -> None:
    Authorizer(KeylessKeys(), events)(member(), Action.CHAT, own(member()))
    (event,) = events.of(AuthorizationEvent)
    assert (event.decision, event.subject) == ("allowed", None)


@pytest.mark.parametrize(
    ("who", "chosen", "reason"),
    [("visitor", "zeta", "organisation_mismatch"), ("member", "No Such!", "not_a_member")],
)
def test_whoever_chooses_an_organisation_that_is_not_theirs_is_reported_before_anything_is_asked(
    who: str, chosen: str, reason: str
) -> None:
    world = ApiWorld()
    headers = world.visitor() if who == "visitor" else world.member()
    reply = world.ask("GET", "/v1/conversations", {**headers, "x-org-id": chosen})
    assert (reply.status, reply.code) == (404, ErrorCode.NOT_FOUND)
    (event,) = world.events.of(AuthorizationEvent)
    assert (event.decision, event.at, event.reason) == ("denied", "request", reason)
    assert (event.action, event.subject) == (None, None)
    assert world.directory.reads == []
