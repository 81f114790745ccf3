"""Admins who end each other's role, or their own, at the same moment: one of them stays, on the emulated DynamoDB."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from fencepost.identity.domain.scope import Action, Member, Membership, Operator, OrgRole, Resource, Scope, authorize
from fencepost.identity.domain.sites import LayerBudgets
from fencepost.identity.dynamodb.directory import DynamoDbDirectory
from fencepost.identity.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.web.admin.service import Administration
from tests.fakes.answers import FixedClock
from tests.integration.conversation_tables import ConversationTables

ROUNDS = 12


class Town:
    """An organisation with these admins."""

    def __init__(self, tables: ConversationTables, org: str, *admins: str) -> None:
        self.org, self.admins = org, admins
        self.directory = DynamoDbDirectory(tables.directory, lambda: tables.client)
        admin = DynamoDbDirectoryAdmin(tables.directory, lambda: tables.client)
        self.service = Administration(admin, LayerBudgets(), FixedClock())
        for user in admins:
            self.service.put_member(self.operator, user, OrgRole.ADMIN)

    @property
    def operator(self) -> Scope:
        return authorize(Operator(self.org), Action.ADMINISTER, Resource(self.org))

    def scope(self, user: str) -> Scope:
        """Return an admin's scope as a request gets it at its beginning."""
        caller = Member(self.org, user, self.directory.membership(self.org, user))
        return authorize(caller, Action.ADMINISTER, Resource(self.org))

    def put(self, actor: Scope, user: str, role: OrgRole | None) -> ErrorCode | None:
        try:
            self.service.put_member(actor, user, role)
        except FencepostError as error:
            return error.code
        return None

    def left(self) -> set[str]:
        return {row.user for row in self.service.members(self.operator) if row.administers}

    def race(self, ends: Mapping[str, str], role: OrgRole | None) -> list[ErrorCode | None]:
        """Let each of these admins, all at once, give another one this role."""
        scopes, start = {actor: self.scope(actor) for actor in ends}, Barrier(len(ends))

        def end(actor: str) -> ErrorCode | None:
            start.wait()
            return self.put(scopes[actor], ends[actor], role)

        with ThreadPoolExecutor(len(ends)) as pool:
            return list(pool.map(end, ends))


@pytest.mark.parametrize("role", [OrgRole.MEMBER, None])
@pytest.mark.parametrize(
    "ends", [{"a": "b", "b": "a"}, {"a": "a", "b": "b"}, {"a": "b", "b": "b"}, {"a": "b", "b": "c", "c": "a"}]
)
def test_however_admins_end_each_other_one_is_left(
    tables: ConversationTables, ends: Mapping[str, str], role: OrgRole | None
) -> None:
    for number in range(ROUNDS):
        town = Town(tables, f"race-{number}-{role}-{'-'.join(ends.values())}", *ends)
        codes = town.race(ends, role)
        assert town.left(), codes
        assert set(codes) <= {None, ErrorCode.LAST_ADMIN, ErrorCode.NOT_FOUND}
        assert None in codes


def test_an_admin_who_was_ended_meanwhile_ends_nobody_and_does_not_come_back(tables: ConversationTables) -> None:
    town = Town(tables, "meanwhile", "a", "b")
    late = town.scope("a")
    assert town.put(town.scope("b"), "a", OrgRole.MEMBER) is None
    for user, role in (("b", None), ("b", OrgRole.MEMBER), ("a", OrgRole.ADMIN), ("c", OrgRole.ADMIN)):
        assert town.put(late, user, role) is ErrorCode.NOT_FOUND
    assert town.left() == {"b"}
    assert town.directory.membership("meanwhile", "c") is None


def test_an_admin_leaves_where_another_one_stays(tables: ConversationTables) -> None:
    town = Town(tables, "leaving", "a", "b", "c")
    assert town.put(town.scope("a"), "a", None) is None
    assert town.put(town.scope("b"), "b", OrgRole.MEMBER) is None
    assert town.put(town.scope("c"), "c", None) is ErrorCode.LAST_ADMIN
    assert town.put(town.scope("c"), "c", OrgRole.ADMIN) is None
    assert town.left() == {"c"}


def test_what_an_admin_writes_gets_versions_like_any_other_change(tables: ConversationTables) -> None:
    town = Town(tables, "versions", "a")
    for version, role in enumerate([OrgRole.MEMBER, OrgRole.ADMIN, None], 1):
        stored = town.service.put_member(town.scope("a"), "u1", role)
        assert stored == Membership("versions", "u1", role or OrgRole.MEMBER, role is not None, version)
        assert town.directory.membership("versions", "u1") == stored


def test_the_operator_may_end_the_last_one(tables: ConversationTables) -> None:
    town = Town(tables, "operated", "a")
    assert town.put(town.operator, "a", None) is None
    assert town.left() == set()
