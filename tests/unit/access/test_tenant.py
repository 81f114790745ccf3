"""Sessions of the tenant role, over a Security Token Service that only counts."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from boto3.session import Session
from botocore.exceptions import EndpointConnectionError

from fencepost.access.sts import ORGANISATION_TAG, RENEW_BEFORE, SESSION_SECONDS, Access, TenantSessions, tenanted
from fencepost.identity.domain.scope import Action, Scope, Visitor, authorize, own
from fencepost.kernel.errors import FencepostError
from fencepost.observability.domain.events import IsolationEvent, TenantSessionEvent
from tests.fakes.answers import FixedClock
from tests.worlds.chat import FakeEvents

ROLE = "arn:aws:iam::000000000000:role/organisation"


def scope(org: str = "acme", visitor: str = "v1") -> Scope:
    caller = Visitor(org, "docs", visitor)
    return authorize(caller, Action.READ, own(caller))


@dataclass
class FakeSts:
    """Hands out credentials that name their organisation."""

    asked: list[dict[str, Any]] = field(default_factory=list)
    available: bool = True

    def assume_role(self, **request: Any) -> dict[str, Any]:
        if not self.available:
            raise EndpointConnectionError(endpoint_url="https://sts.example")
        self.asked.append(request)
        (tag,) = request["Tags"]
        return {
            "Credentials": {
                "AccessKeyId": f"key-{tag['Value']}-{len(self.asked)}",
                "SecretAccessKey": "secret",
                "SessionToken": "token",
            }
        }


@dataclass
class World:
    sts: FakeSts = field(default_factory=FakeSts)
    events: FakeEvents = field(default_factory=FakeEvents)
    clock: FixedClock = field(default_factory=FixedClock)

    def __post_init__(self) -> None:
        # The fake has what is asked of the real one.
        self.sessions = TenantSessions(ROLE, self.events, self.clock, lambda: self.sts)  # type: ignore[arg-type, return-value]

    def key(self, scope: Scope) -> str:
        return self.sessions.client(scope, access_key)


def access_key(session: Session) -> str:
    """Stand in for a client: the key that it would sign with."""
    credentials = session.get_credentials()
    assert credentials
    return str(credentials.access_key)


@pytest.fixture
def world() -> World:
    return World()


def test_the_session_is_bound_to_the_organisation_and_nothing_else_is_asked_for(world: World) -> None:
    assert world.key(scope()) == "key-acme-1"
    (request,) = world.sts.asked
    assert request["RoleArn"] == ROLE
    assert request["Tags"] == [{"Key": ORGANISATION_TAG, "Value": "acme"}]
    assert request["DurationSeconds"] == SESSION_SECONDS
    assert [event.result for event in world.events.of(TenantSessionEvent)] == ["assumed"]


def test_one_session_serves_all_owners_of_an_organisation_until_shortly_before_it_ends(world: World) -> None:
    lasts = timedelta(seconds=SESSION_SECONDS) - RENEW_BEFORE
    assert world.key(scope(visitor="v1")) == world.key(scope(visitor="v2")) == "key-acme-1"
    world.clock.advance(lasts.total_seconds() - 1)
    assert world.key(scope()) == "key-acme-1"
    world.clock.advance(1)
    assert world.key(scope()) == "key-acme-2"


def test_organisations_never_share_a_session(world: World) -> None:
    assert [world.key(scope(org)) for org in ("acme", "zeta", "acme")] == ["key-acme-1", "key-zeta-2", "key-acme-1"]


def test_an_organisation_with_the_longest_and_the_shortest_name_can_have_one(world: World) -> None:
    for org in ("a", "a" * 63):
        world.key(scope(org))
    assert all(2 <= len(request["RoleSessionName"]) <= 64 for request in world.sts.asked)


def test_threads_that_ask_at_once_assume_the_role_once(world: World) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: world.key(scope()), range(32)))
    assert keys == {"key-acme-1"}
    assert len(world.sts.asked) == 1


def test_without_the_role_nothing_is_reached(world: World) -> None:
    world.sts.available = False
    with pytest.raises(FencepostError, match="conversations_unavailable"):
        world.key(scope())
    assert [event.result for event in world.events.of(TenantSessionEvent)] == ["unavailable"]
    world.sts.available = True
    assert world.key(scope()) == "key-acme-1"


def test_a_session_that_lies_under_anothers_key_is_not_used_and_is_reported(world: World) -> None:
    world.key(scope("zeta"))
    entries = world.sessions._tenants._entries  # what a fault of ours would mix up
    (mixed_up,) = entries.values()
    entries.clear()
    object.__setattr__(mixed_up.key, "org", "acme")
    entries[mixed_up.key] = mixed_up
    assert world.key(scope("acme")) == "key-acme-2"
    assert [event.finding for event in world.events.of(IsolationEvent)] == ["tenant_session"]


class Store:
    """A store as they all are: every method takes a scope first."""

    def __init__(self, access: Access) -> None:
        self.access = access

    def read(self, scope: Scope, name: str, *, limit: int = 1) -> tuple[object, str, int]:
        return self.access.dynamodb().meta.region_name, name, limit

    def names(self, scope: Scope) -> Iterator[Access]:
        yield self.access


def test_a_store_without_a_role_is_the_store_itself() -> None:
    assert isinstance(tenanted(Store, None), Store)


def test_each_call_has_the_clients_of_its_scope(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    store = tenanted(Store, world.sessions)
    assert store.read(scope(), "a", limit=2) == ("eu-central-1", "a", 2)
    (access,) = store.names(scope("zeta"))
    assert access.s3() is access.s3()
    assert [request["Tags"][0]["Value"] for request in world.sts.asked] == ["acme", "zeta"]


def test_a_client_is_made_once_for_a_session(world: World) -> None:
    made: list[Session] = []

    def make(session: Session) -> object:
        made.append(session)
        return object()

    assert world.sessions.client(scope(), make) is world.sessions.client(scope(visitor="v2"), make)
    assert len(made) == 1
