"""Conformance tests of every `DiagnosisStore`: records of diagnoses, and the looks that they allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from fencepost.identity.domain.scope import Action, Member, Membership, OrgRole, Resource, Scope, authorize
from fencepost.kernel.errors import FencepostError
from fencepost.lifecycle.domain.diagnosis import Diagnosis, Look
from fencepost.lifecycle.ports import DiagnosisStore
from tests.conformance.samples import NOW


def admin_scope(org: str = "acme", user: str = "root") -> Scope:
    """Return the scope of an admin who diagnoses conversations of the visitor `v1`."""
    admin = Member(org, user, Membership(org, user, OrgRole.ADMIN, active=True, version=1))
    return authorize(admin, Action.DIAGNOSE, Resource(org, "visitor:v1"))


def diagnosis(name: str = "d1", **changes: object) -> Diagnosis:
    """Return a diagnosis that `root` opened for ten minutes."""
    usual = Diagnosis(
        id=name,
        conversation_id="c1",
        owner="visitor:v1",
        opened_by="member:root",
        reason="Ticket 4711",
        opened_at=NOW,
        until=NOW + timedelta(minutes=10),
    )
    return replace(usual, **changes)  # type: ignore[arg-type]  # checked by the dataclass


def look(at: datetime = NOW, name: str = "d1") -> Look:
    """Return a look at the messages."""
    return Look(diagnosis_id=name, at=at, what="messages", from_seq=1)


class DiagnosisConformance:
    """The tests. A subclass provides the fixtures `subject` and `broken`."""

    @pytest.fixture
    def scope(self) -> Scope:
        return admin_scope(f"org-{uuid4().hex}")

    def test_a_record_is_returned_in_its_organisation_alone(self, subject: DiagnosisStore, scope: Scope) -> None:
        subject.open(scope, diagnosis())
        assert subject.get(scope, "d1") == diagnosis()
        assert subject.get(admin_scope(scope.org, "other"), "d1") == diagnosis()
        assert subject.get(admin_scope("zeta"), "d1") is None
        assert subject.get(scope, "d2") is None

    def test_the_newest_records_come_first(self, subject: DiagnosisStore, scope: Scope) -> None:
        for name in ("d1", "d3", "d2"):
            subject.open(scope, diagnosis(name))
        assert [found.id for found in subject.newest(scope, 2)] == ["d3", "d2"]
        assert subject.newest(admin_scope("zeta"), 10) == ()

    def test_a_look_is_counted_and_recorded(self, subject: DiagnosisStore, scope: Scope) -> None:
        subject.open(scope, diagnosis())
        later = look(NOW + timedelta(minutes=1))
        assert subject.look(scope, look())
        assert subject.look(scope, later)
        assert subject.get(scope, "d1") == diagnosis(looks=2)
        assert subject.looks(scope, "d1", 10) == (later, look())
        assert subject.looks(scope, "d1", 1) == (later,)
        assert subject.looks(scope, "d", 10) == ()

    def test_looks_are_listed_by_their_times(self, subject: DiagnosisStore, scope: Scope) -> None:
        subject.open(scope, diagnosis())
        later = look(NOW + timedelta(minutes=1))
        assert subject.look(scope, later)
        assert subject.look(scope, look())
        assert subject.looks(scope, "d1", 10) == (later, look())

    @pytest.mark.parametrize(
        ("user", "elsewhere", "minutes"),
        [("other", False, 0), ("root", True, 0), ("root", False, 10)],
        ids=["another admin", "another organisation", "too late"],
    )
    def test_a_refused_look_leaves_nothing(
        self, subject: DiagnosisStore, scope: Scope, user: str, minutes: int, *, elsewhere: bool
    ) -> None:
        subject.open(scope, diagnosis())
        asking = admin_scope("zeta" if elsewhere else scope.org, user)
        assert not subject.look(asking, look(NOW + timedelta(minutes=minutes)))
        assert subject.get(scope, "d1") == diagnosis()
        assert subject.looks(scope, "d1", 10) == ()

    def test_a_closed_diagnosis_is_over_and_keeps_its_time(self, subject: DiagnosisStore, scope: Scope) -> None:
        subject.open(scope, diagnosis())
        closed = diagnosis(closed_at=NOW + timedelta(minutes=2))
        subject.close(scope, closed)
        subject.close(scope, diagnosis(closed_at=NOW + timedelta(minutes=3)))
        assert subject.get(scope, "d1") == closed
        assert not subject.look(scope, look(NOW + timedelta(minutes=1)))

    def test_closing_a_missing_diagnosis_stores_nothing(self, subject: DiagnosisStore, scope: Scope) -> None:
        subject.close(scope, diagnosis(closed_at=NOW))
        assert subject.get(scope, "d1") is None

    @pytest.mark.parametrize(
        "call",
        [
            lambda store: store.open(admin_scope(), diagnosis()),
            lambda store: store.get(admin_scope(), "d1"),
            lambda store: store.newest(admin_scope(), 1),
            lambda store: store.look(admin_scope(), look()),
            lambda store: store.looks(admin_scope(), "d1", 1),
            lambda store: store.close(admin_scope(), diagnosis(closed_at=NOW)),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self, broken: DiagnosisStore, call: Callable[[DiagnosisStore], object]
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken)
