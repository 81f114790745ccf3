"""Callers, actions and permissions. Stores require a `Scope`, and only `authorize` creates one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from fencepost.kernel.errors import ErrorCode, FencepostError

ORG_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""Format of an organisation's id, and of a site's id in its organisation."""

type DenialReason = Literal["not_a_member", "suspended", "organisation_mismatch", "owner_mismatch", "not_an_admin"]


class OrgRole(StrEnum):
    """A member's role in an organisation."""

    ADMIN = "admin"
    MEMBER = "member"


class Action(StrEnum):
    """What a caller wants to do. `ADMINISTER` and `DIAGNOSE` are for admins only."""

    CHAT = "chat"
    READ = "read"
    WRITE = "write"
    ERASE = "erase"
    EXPORT = "export"
    IMPORT = "import"
    CARRY = "carry"
    ADMINISTER = "administer"
    DIAGNOSE = "diagnose"


_ADMINS_ONLY = frozenset({Action.ADMINISTER, Action.DIAGNOSE})


@dataclass(frozen=True, slots=True)
class Membership:
    """A person's membership of an organisation, as it is stored now.

    Attributes:
        user: subject of the person's tokens.
        active: False once revoked or suspended.
        version: raised with every change; caches and turns are bound to it.
    """

    org: str
    user: str
    role: OrgRole
    active: bool
    version: int

    @property
    def administers(self) -> bool:
        """Whether this person is an active admin."""
        return self.active and self.role is OrgRole.ADMIN


@dataclass(frozen=True, slots=True)
class Visitor:
    """An anonymous visitor of a site, identified by a signed token."""

    org: str
    site: str
    visitor_id: str

    @property
    def owner(self) -> str:
        """Owner of this visitor's data."""
        return f"visitor:{self.visitor_id}"


@dataclass(frozen=True, slots=True)
class Member:
    """A signed-in user, with the current membership; None for users without one."""

    org: str
    user: str
    membership: Membership | None

    @property
    def owner(self) -> str:
        """Owner of this member's data."""
        return f"member:{self.user}"


@dataclass(frozen=True, slots=True)
class Operator:
    """The deployment itself: the command line, and background work for one organisation."""

    org: str

    @property
    def owner(self) -> str:
        """Owner name of an operator. No conversation belongs to it."""
        return "operator"


type Caller = Visitor | Member | Operator


@dataclass(frozen=True, slots=True)
class Resource:
    """The target of an action: data of one owner, or an organisation as a whole if `owner` is None."""

    org: str
    owner: str | None = None


class Denied(FencepostError):
    """The action is not allowed. Clients get `not_found`, as for absent data; `reason` goes to events only."""

    def __init__(self, reason: DenialReason) -> None:
        super().__init__(ErrorCode.NOT_FOUND)
        self.reason = reason


class _Seal:
    """Required by `Scope`, so that only this module can create one."""


_SEAL: Final = _Seal()


@dataclass(frozen=True, slots=True)
class Scope:
    """An authorised access to one owner's data.

    Attributes:
        org: organisation; every key begins with it.
        owner: owner of the data.
        actor: who acts; differs from the owner in an admin's diagnosis and in an operator's work.
        permission_version: version of the membership; 0 for visitors and operators, who have none.
        action: the authorised action.
    """

    org: str
    owner: str
    actor: str
    permission_version: int
    action: Action
    seal: _Seal

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("only authorize() makes a Scope")


def require_member(member: Member) -> Member:
    """Return the member if the current membership is active, in any role.

    Raises:
        Denied: sent as `not_found`, without the reason.
    """
    reason = _membership_denial(member)
    if reason:
        raise Denied(reason)
    return member


def own(caller: Caller) -> Resource:
    """Return the caller's own data in the organisation of the request."""
    return Resource(caller.org, caller.owner)


def authorize(caller: Caller, action: Action, resource: Resource) -> Scope:
    """Authorise an action by the caller's current membership.

    Raises:
        Denied: sent as `not_found`, without the reason.
    """
    reason = _denial(caller, action, resource)
    if reason:
        raise Denied(reason)
    version = caller.membership.version if isinstance(caller, Member) and caller.membership else 0
    return Scope(resource.org, resource.owner or caller.owner, caller.owner, version, action, _SEAL)


def _denial(caller: Caller, action: Action, resource: Resource) -> DenialReason | None:
    if caller.org != resource.org:
        return "organisation_mismatch"
    if isinstance(caller, Operator):
        return None
    if isinstance(caller, Member) and (reason := _membership_denial(caller)):
        return reason
    if action in _ADMINS_ONLY:
        membership = caller.membership if isinstance(caller, Member) else None
        return None if membership and membership.role is OrgRole.ADMIN else "not_an_admin"
    return None if resource.owner == caller.owner else "owner_mismatch"


def _membership_denial(caller: Member) -> DenialReason | None:
    membership = caller.membership
    if membership is None or (membership.org, membership.user) != (caller.org, caller.user):
        return "not_a_member"
    return None if membership.active else "suspended"


ANY_SITE: Final = "*"
"""Stands for all sites of the organisation in a grant."""


class Audience(StrEnum):
    """Kinds of readers of a document."""

    SITE = "site"
    ORGANISATION = "organisation"
    ROLE = "role"
    USERS = "users"


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    """The readers of a document.

    Attributes:
        audience: all callers on its site, all members, members with a role, or listed users.
        role: the role for `Audience.ROLE`.
        users: subjects of tokens for `Audience.USERS`.
    """

    audience: Audience = Audience.SITE
    role: OrgRole | None = None
    users: tuple[str, ...] = ()

    def grants(self, site: str) -> frozenset[str]:
        """Return the grants of which a reader needs one. `site` is the document's, empty for all sites."""
        match self.audience:
            case Audience.SITE:
                return frozenset({f"site:{site or ANY_SITE}"})
            case Audience.ORGANISATION:
                return frozenset({"members"})
            case Audience.ROLE:
                return frozenset({f"role:{self.role or OrgRole.ADMIN}"})
            case Audience.USERS:
                return frozenset(f"user:{user}" for user in self.users)


def grants_of(caller: Caller, site: str) -> frozenset[str]:
    """Return the grants that a caller has on a site. Admins also have those of members."""
    public = {f"site:{site}", f"site:{ANY_SITE}"}
    if isinstance(caller, Visitor):
        return frozenset(public)
    if isinstance(caller, Member) and caller.membership and caller.membership.active:
        roles = {OrgRole.MEMBER, caller.membership.role}
        return frozenset({*public, "members", f"user:{caller.user}", *(f"role:{role}" for role in roles)})
    return frozenset()
