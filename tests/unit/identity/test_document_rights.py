"""Access to documents of an organisation: each kind of audience for each kind of caller."""

from __future__ import annotations

import pytest

from fencepost.identity.domain.scope import (
    Acl,
    Audience,
    Caller,
    Member,
    Membership,
    Operator,
    OrgRole,
    Visitor,
    grants_of,
)

READABLE = {
    "on docs": (Acl(), "docs"),
    "on blog": (Acl(), "blog"),
    "on all sites": (Acl(), ""),
    "members": (Acl(audience=Audience.ORGANISATION), "docs"),
    "every role": (Acl(audience=Audience.ROLE, role=OrgRole.MEMBER), "docs"),
    "admins": (Acl(audience=Audience.ROLE, role=OrgRole.ADMIN), "docs"),
    "no role": (Acl(audience=Audience.ROLE), "docs"),
    "ann": (Acl(audience=Audience.USERS, users=("ann", "site:docs")), "docs"),
    "ben": (Acl(audience=Audience.USERS, users=("ben",)), "docs"),
    "nobody": (Acl(audience=Audience.USERS), "docs"),
}
"""Documents by audience, with the site of each."""
PUBLIC = {"on docs", "on all sites"}
MEMBERS = PUBLIC | {"members", "every role"}


def member(user: str, role: OrgRole = OrgRole.MEMBER, *, active: bool = True) -> Member:
    return Member("acme", user, Membership("acme", user, role, active=active, version=1))


@pytest.mark.parametrize(
    ("caller", "readable"),
    [
        (Visitor("acme", "docs", "ann"), PUBLIC),
        (Visitor("acme", "docs", "site:blog"), PUBLIC),
        (member("ann"), MEMBERS | {"ann"}),
        (member("cid"), MEMBERS),
        (member("ben", OrgRole.ADMIN), MEMBERS | {"admins", "no role", "ben"}),
        (member("ann", active=False), set()),
        (Member("acme", "ann", None), set()),
        (Operator("acme"), set()),
    ],
)
def test_a_caller_on_a_site_finds_what_is_for_them_and_nothing_else(caller: Caller, readable: set[str]) -> None:
    held = grants_of(caller, "docs")
    assert {name for name, (acl, site) in READABLE.items() if acl.grants(site) & held} == readable
