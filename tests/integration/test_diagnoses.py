"""Records of diagnoses on the emulated DynamoDB."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fencepost.identity.domain.scope import Action, Member, Membership, OrgRole, Resource, Scope, authorize
from fencepost.kernel.aws.legacy.client import ClientFactory
from fencepost.kernel.errors import FencepostError
from fencepost.lifecycle.domain.diagnosis import Diagnosis, Look
from fencepost.lifecycle.dynamodb.diagnoses import RETENTION, DynamoDbDiagnoses
from local import processes
from local.emulator import Emulator
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.tables import connect

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def scope(org: str = "acme", user: str = "root") -> Scope:
    admin = Member(org, user, Membership(org, user, OrgRole.ADMIN, active=True, version=1))
    return authorize(admin, Action.DIAGNOSE, Resource(org, "visitor:v1"))


def diagnosis(name: str = "d1", **changes: object) -> Diagnosis:
    usual = Diagnosis(
        id=name,
        conversation_id="c1",
        owner="visitor:v1",
        opened_by="member:root",
        reason="Ticket 4711",
        opened_at=NOON,
        until=NOON + timedelta(minutes=10),
    )
    return replace(usual, **changes)  # type: ignore[arg-type]  # checked by the dataclass


def look(at: datetime = NOON, name: str = "d1") -> Look:
    return Look(diagnosis_id=name, at=at, what="messages", from_seq=1)


@pytest.fixture
def store(emulator: Emulator) -> DynamoDbDiagnoses:
    return DynamoDbDiagnoses(open_conversation_tables(emulator.endpoint_url).conversations, client(emulator))


def client(emulator: Emulator) -> ClientFactory:
    connected = connect(emulator.endpoint_url)
    return lambda: connected


def test_what_was_opened_reads_back_in_its_own_organisation_alone(store: DynamoDbDiagnoses) -> None:
    store.open(scope(), diagnosis())
    assert store.get(scope(), "d1") == diagnosis()
    assert store.get(scope(user="other"), "d1") == diagnosis()
    assert store.get(scope("zeta"), "d1") is None
    assert store.get(scope(), "d2") is None


def test_the_newest_come_first(store: DynamoDbDiagnoses) -> None:
    for name in ("d1", "d2", "d3"):
        store.open(scope(), diagnosis(name))
    assert [found.id for found in store.newest(scope(), 2)] == ["d3", "d2"]
    assert store.newest(scope("zeta"), 10) == ()


def test_a_look_is_counted_and_recorded(store: DynamoDbDiagnoses) -> None:
    store.open(scope(), diagnosis())
    later = look(NOON + timedelta(minutes=1))
    assert store.look(scope(), look())
    assert store.look(scope(), later)
    assert store.get(scope(), "d1") == diagnosis(looks=2)
    assert store.looks(scope(), "d1", 10) == (later, look())
    assert store.looks(scope(), "d", 10) == ()


@pytest.mark.parametrize(
    ("who", "when"),
    [(scope(user="other"), NOON), (scope("zeta"), NOON), (scope(), NOON + timedelta(minutes=10))],
    ids=["another admin", "another organisation", "too late"],
)
def test_a_look_that_is_not_allowed_leaves_nothing(store: DynamoDbDiagnoses, who: Scope, when: datetime) -> None:
    store.open(scope(), diagnosis())
    assert not store.look(who, look(when))
    assert store.get(scope(), "d1") == diagnosis()
    assert store.looks(scope(), "d1", 10) == ()


def test_one_that_was_closed_is_over_and_keeps_its_time(store: DynamoDbDiagnoses) -> None:
    store.open(scope(), diagnosis())
    closed = diagnosis(closed_at=NOON + timedelta(minutes=2))
    store.close(scope(), closed)
    store.close(scope(), diagnosis(closed_at=NOON + timedelta(minutes=3)))
    assert store.get(scope(), "d1") == closed
    assert not store.look(scope(), look(NOON + timedelta(minutes=1)))


def test_closing_what_is_not_there_makes_nothing(store: DynamoDbDiagnoses) -> None:
    store.close(scope(), diagnosis(closed_at=NOON))
    assert store.get(scope(), "d1") is None


def test_looks_of_one_moment_are_all_recorded(store: DynamoDbDiagnoses) -> None:
    store.open(scope(), diagnosis())
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: store.look(scope(), look()), range(24)))
    assert results == [True] * 24
    assert store.get(scope(), "d1") == diagnosis(looks=24)
    assert len(store.looks(scope(), "d1", 100)) == 24


def test_records_expire(emulator: Emulator, tables: ConversationTables) -> None:
    store = DynamoDbDiagnoses(tables.conversations, client(emulator))
    store.open(scope(), diagnosis())
    store.look(scope(), look())
    expiries = {int(row["expires_at"]["N"]) for row in tables.rows("org#acme#")}
    assert expiries == {int((NOON + RETENTION).timestamp())}


def test_a_store_that_does_not_answer_is_told_apart_from_one_that_refuses() -> None:
    dead = connect(f"http://127.0.0.1:{processes.free_port()}")
    store = DynamoDbDiagnoses("table", lambda: dead)
    for call in (
        lambda: store.open(scope(), diagnosis()),
        lambda: store.get(scope(), "d1"),
        lambda: store.newest(scope(), 1),
        lambda: store.look(scope(), look()),
        lambda: store.close(scope(), diagnosis(closed_at=NOON)),
    ):
        with pytest.raises(FencepostError, match="conversations_unavailable"):
            call()
