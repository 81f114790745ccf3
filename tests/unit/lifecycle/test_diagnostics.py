"""Diagnostic mode as an admin meets it, and as everybody else does."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from fencepost.http.cursors import Cursors
from fencepost.identity.domain.scope import OrgRole
from fencepost.kernel.errors import ErrorCode
from fencepost.lifecycle.routes.diagnostics import DiagnosticsRoutes
from fencepost.lifecycle.service.diagnostics import DiagnosticsService
from fencepost.model.domain import LayerUse
from fencepost.observability.domain.events import DiagnosisEvent
from tests.fakes.conversations import owned
from tests.fakes.diagnoses import FakeDiagnoses
from tests.worlds.api import ANN, ApiWorld
from tests.worlds.chat import Reply

PATH = "/v1/admin/diagnostics"
REASON = "Ticket 4711: answers cite the wrong page"
SECRET = "jane.doe@mail.example"


@dataclass
class Clinic:
    """An API with diagnostics, an admin, and Ann's conversation in which she tells her address."""

    world: ApiWorld = field(default_factory=ApiWorld)
    records: FakeDiagnoses = field(default_factory=FakeDiagnoses)

    def __post_init__(self) -> None:
        service = DiagnosticsService(
            conversations=self.world.store,
            diagnoses=self.records,
            keys=self.world.keys,
            events=self.world.events,
            clock=self.world.clock,
        )
        self.world.more_routes = DiagnosticsRoutes(service, Cursors(self.world.keys)).routes()
        for org in ("acme", "zeta"):
            self.world.directory.grant(org, "root", OrgRole.ADMIN)
            self.world.directory.grant(org, "other-root", OrgRole.ADMIN)
        scope = self.world.scope()
        self.world.converse(scope, "talk", turns=3, title=f"I am {SECRET}")
        messages = self.world.store.shelf.messages[owned(scope, "talk")]
        messages[0] = replace(messages[0], content=f"Write to {SECRET}, please.")

    def ask(self, method: str, path: str = "", body: object = None, user: str = "root", org: str = "acme") -> Reply:
        return self.world.ask(method, PATH + path, self.world.member(user, org), body)

    def open(self, **changes: object) -> Reply:
        return self.ask("POST", body=request(**changes))

    @property
    def events(self) -> list[str]:
        return [event.result for event in self.world.events.of(DiagnosisEvent)]


def request(**changes: object) -> dict[str, object]:
    usual = {"conversationId": "talk", "owner": f"visitor:{ANN}", "reason": REASON, "minutes": 10}
    return {name: value for name, value in (usual | changes).items() if value is not None}


@pytest.fixture
def clinic() -> Clinic:
    return Clinic()


@pytest.fixture
def opened(clinic: Clinic) -> dict[str, Any]:
    reply = clinic.open()
    assert reply.status == 201
    record: dict[str, Any] = reply.json
    return record


def test_what_was_opened_says_by_whom_why_and_until_when(opened: dict[str, Any]) -> None:
    assert opened["openedBy"] == "member:root"
    assert opened["reason"] == REASON
    assert opened["openedAt"] < opened["until"]
    assert opened["looks"] == 0


def test_a_look_shows_the_conversation_without_personal_data(clinic: Clinic, opened: dict[str, Any]) -> None:
    reply = clinic.ask("GET", f"/{opened['id']}/messages")
    assert [item["content"] for item in reply.json["items"][:2]] == ["Write to [masked], please.", "Answer 1 of talk."]
    assert reply.json["title"] == "I am [masked]"
    assert SECRET not in reply.text
    assert "id" not in reply.json["items"][0]


def test_pages_follow_each_other(clinic: Clinic, opened: dict[str, Any]) -> None:
    first = clinic.ask("GET", f"/{opened['id']}/messages?limit=4").json
    second = clinic.ask("GET", f"/{opened['id']}/messages?limit=4&cursor={first['nextCursor']}").json
    assert [item["seq"] for item in first["items"] + second["items"]] == [1, 2, 3, 4, 5, 6]
    assert "nextCursor" not in second


def test_every_look_is_on_record_with_its_time(clinic: Clinic, opened: dict[str, Any]) -> None:
    clinic.ask("GET", f"/{opened['id']}/messages")
    clinic.world.clock.advance(5)
    clinic.ask("GET", f"/{opened['id']}/messages/2/context")
    record = clinic.ask("GET", f"/{opened['id']}", user="other-root").json
    assert record["looks"] == 2
    assert [(look["what"], look["fromSeq"]) for look in record["recentLooks"]] == [("context", 2), ("messages", 1)]
    assert clinic.events == ["opened", "looked", "looked"]


def test_nothing_is_shown_where_the_look_cannot_be_recorded(clinic: Clinic, opened: dict[str, Any]) -> None:
    clinic.records.faults.due.extend((None, "before"))
    reply = clinic.ask("GET", f"/{opened['id']}/messages")
    assert reply.code == ErrorCode.CONVERSATIONS_UNAVAILABLE
    assert "items" not in reply.json


def test_it_ends_by_itself(clinic: Clinic, opened: dict[str, Any]) -> None:
    clinic.world.clock.advance(10 * 60 - 1)
    assert clinic.ask("GET", f"/{opened['id']}/messages").status == 200
    clinic.world.clock.advance(1)
    reply = clinic.ask("GET", f"/{opened['id']}/messages")
    assert (reply.status, reply.code) == (410, ErrorCode.DIAGNOSIS_ENDED)
    assert clinic.ask("GET", f"/{opened['id']}/messages/2/context").status == 410
    assert clinic.events[-1] == "ended"


def test_it_can_be_ended_before_its_time_by_any_admin(clinic: Clinic, opened: dict[str, Any]) -> None:
    assert clinic.ask("DELETE", f"/{opened['id']}", user="other-root").status == 204
    assert clinic.ask("GET", f"/{opened['id']}/messages").code == ErrorCode.DIAGNOSIS_ENDED
    closed = clinic.ask("GET", f"/{opened['id']}").json["closedAt"]
    clinic.world.clock.advance(5)
    clinic.ask("DELETE", f"/{opened['id']}")
    assert clinic.ask("GET", f"/{opened['id']}").json["closedAt"] == closed


def test_only_the_admin_who_opened_it_may_look(clinic: Clinic, opened: dict[str, Any]) -> None:
    reply = clinic.ask("GET", f"/{opened['id']}/messages", user="other-root")
    assert (reply.status, reply.code) == (410, ErrorCode.DIAGNOSIS_ENDED)


def test_an_admin_who_was_revoked_sees_nothing_at_once(clinic: Clinic, opened: dict[str, Any]) -> None:
    clinic.world.directory.revoke("acme", "root")
    assert clinic.ask("GET", f"/{opened['id']}/messages").status == 404


def everything(diagnosis_id: str) -> list[tuple[str, str, object]]:
    return [
        ("POST", "", request()),
        ("GET", "", None),
        ("GET", f"/{diagnosis_id}", None),
        ("DELETE", f"/{diagnosis_id}", None),
        ("GET", f"/{diagnosis_id}/messages", None),
        ("GET", f"/{diagnosis_id}/messages/2/context", None),
    ]


def test_a_member_who_is_no_admin_finds_nothing_there(clinic: Clinic, opened: dict[str, Any]) -> None:
    for method, path, body in everything(opened["id"]):
        assert clinic.ask(method, path, body, user="u1").code == ErrorCode.NOT_FOUND


def test_a_visitor_finds_nothing_there(clinic: Clinic, opened: dict[str, Any]) -> None:
    for method, path, body in everything(opened["id"]):
        reply = clinic.world.ask(method, PATH + path, clinic.world.visitor(), body)
        assert reply.code == ErrorCode.NOT_FOUND


def test_an_admin_of_another_organisation_finds_nothing_there(clinic: Clinic, opened: dict[str, Any]) -> None:
    assert clinic.ask("GET", org="zeta").json == {"items": []}
    for method, path, body in everything(opened["id"])[2:]:
        assert clinic.ask(method, path, body, org="zeta").code == ErrorCode.NOT_FOUND
    # The same conversation's id and owner: but there they are nobody's.
    assert clinic.ask("POST", body=request(), org="zeta").code == ErrorCode.NOT_FOUND


def test_another_owners_cursor_or_diagnosis_does_not_go_on(clinic: Clinic, opened: dict[str, Any]) -> None:
    cursor = clinic.ask("GET", f"/{opened['id']}/messages?limit=1").json["nextCursor"]
    other = clinic.open().json
    assert clinic.ask("GET", f"/{other['id']}/messages?cursor={cursor}").code == ErrorCode.CURSOR_INVALID


@pytest.mark.parametrize(
    "wrong",
    [
        {"reason": None},
        {"reason": "curious  "},
        {"reason": "x" * 501},
        {"minutes": 0},
        {"minutes": 61},
        {"minutes": "10"},
        {"minutes": None},
        {"owner": "operator"},
        {"owner": "ann"},
        {"owner": None},
        {"conversationId": "a b"},
        {"conversationId": None},
    ],
)
def test_what_is_incomplete_opens_nothing(clinic: Clinic, wrong: dict[str, object]) -> None:
    reply = clinic.open(**wrong)
    assert (reply.status, reply.code) == (400, ErrorCode.DIAGNOSIS_INVALID)
    assert clinic.records.records == {}


def test_a_conversation_that_is_not_there_cannot_be_diagnosed(clinic: Clinic) -> None:
    assert clinic.open(conversationId="gone").code == ErrorCode.NOT_FOUND
    assert clinic.records.records == {}


def test_the_context_names_what_was_said_by_pseudonyms(clinic: Clinic, opened: dict[str, Any]) -> None:
    place = owned(clinic.world.scope(), "talk-1")
    seq, context = clinic.world.store.shelf.answers[place][1]
    assert context
    layers = (LayerUse("history", 9, ("msg:my-name-is-jane",)), LayerUse("context", 5, ("guide#1",)))
    clinic.world.store.shelf.answers[place][1] = (seq, replace(context, layers=layers))
    reply = clinic.ask("GET", f"/{opened['id']}/messages/2/context")
    history, documents = reply.json["layers"]
    assert history["sources"][0].startswith("msg_")
    assert documents["sources"] == ["guide#1"]
    assert "jane" not in reply.text


@pytest.mark.parametrize("seq", ["99", "x", "-1", "1" * 13])
def test_a_message_that_is_not_there_has_no_context(clinic: Clinic, opened: dict[str, Any], seq: str) -> None:
    assert clinic.ask("GET", f"/{opened['id']}/messages/{seq}/context").code == ErrorCode.NOT_FOUND


def test_a_conversation_that_was_erased_meanwhile_is_gone(clinic: Clinic, opened: dict[str, Any]) -> None:
    clinic.world.store.shelf.conversations.clear()
    assert clinic.ask("GET", f"/{opened['id']}/messages").code == ErrorCode.NOT_FOUND


def test_events_hold_pseudonyms_and_no_reason(clinic: Clinic, opened: dict[str, Any]) -> None:
    clinic.ask("GET", f"/{opened['id']}/messages")
    told = json.dumps([event.model_dump(mode="json") for event in clinic.world.events.of(DiagnosisEvent)])
    assert clinic.world.events.of(DiagnosisEvent)[0].minutes == 10
    for word in (ANN, "root", "talk", "acme", "Ticket", SECRET):
        assert word not in told
