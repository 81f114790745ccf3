"""Who asks, and what they may reach. A `Scope` is the only key to anybody's data, and only `authorize` makes one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from fencepost.kernel.errors import ErrorCode, FencepostError

ORG_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""What an organisation's id looks like, and a site's id in its organisation."""

type DenialReason = Literal["not_a_member", "suspended", "organisation_mismatch", "owner_mismatch", "not_an_admin"]


class OrgRole(StrEnum):
    """What a member is in an organisation."""

    ADMIN = "admin"
    MEMBER = "member"


class Action(StrEnum):
    """What somebody wants to do. `ADMINISTER` and `DIAGNOSE` are an admin's alone."""

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
    """One person's place in one organisation, as the store holds it now.

    Attributes:
        user: the subject of the person's tokens.
        active: false once revoked or suspended.
        version: raised with every change; caches and claims are bound to it.
    """

    org: str
    user: str
    role: OrgRole
    active: bool
    version: int

    @property
    def administers(self) -> bool:
        """Whether this person is an admin at present."""
        return self.active and self.role is OrgRole.ADMIN


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody anonymous, told apart by a signed token of one site."""

    org: str
    site: str
    visitor_id: str

    @property
    def owner(self) -> str:
        """The owner of what this visitor says."""
        return f"visitor:{self.visitor_id}"


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody signed in, with the membership as it is at this moment; None where there is none."""

    org: str
    user: str
    membership: Membership | None

    @property
    def owner(self) -> str:
        """The owner of what this member says."""
        return f"member:{self.user}"


@dataclass(frozen=True, slots=True)
class Operator:
    """Whoever holds the deployment's own credentials: the command line, and scheduled work of one organisation."""

    org: str

    @property
    def owner(self) -> str:
        """Nobody's words belong to an operator."""
        return "operator"


type Caller = Visitor | Member | Operator


@dataclass(frozen=True, slots=True)
class Resource:
    """What an action is about: data of one owner, or an organisation as a whole where `owner` is None."""

    org: str
    owner: str | None = None


class Denied(FencepostError):
    """An action that is not allowed. It answers as if there were nothing; `reason` is for events alone."""

    def __init__(self, reason: DenialReason) -> None:
        super().__init__(ErrorCode.NOT_FOUND)
        self.reason = reason


class _Seal:
    """What `Scope` asks for, so that nobody makes one by accident."""


_SEAL: Final = _Seal()


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose data may be touched, by whom, and under which version of their permission.

    Attributes:
        org: the organisation; every key begins with it.
        owner: whose words they are.
        actor: who acts; differs from the owner in an admin's diagnosis and in an operator's work.
        permission_version: the membership's; 0 for visitors and operators, whose permission has no versions.
        action: what was authorised.
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
    """Return the member, if they are one at this moment, whatever they may do.

    Raises:
        Denied: a `not_found` that says nothing of the reason.
    """
    reason = _membership_denial(member)
    if reason:
        raise Denied(reason)
    return member


def own(caller: Caller) -> Resource:
    """Return the caller's own data, in the organisation that they chose."""
    return Resource(caller.org, caller.owner)


def authorize(caller: Caller, action: Action, resource: Resource) -> Scope:
    """Decide, from the caller's current membership.

    Raises:
        Denied: a `not_found` that says nothing of the reason.
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
        return None if _is_admin(caller) else "not_an_admin"
    return None if resource.owner == caller.owner else "owner_mismatch"


def _membership_denial(caller: Member) -> DenialReason | None:
    membership = caller.membership
    if membership is None or (membership.org, membership.user) != (caller.org, caller.user):
        return "not_a_member"
    return None if membership.active else "suspended"


def _is_admin(caller: Caller) -> bool:
    return isinstance(caller, Member) and caller.membership is not None and caller.membership.role is OrgRole.ADMIN


ANY_SITE: Final = "*"
"""In a grant: every site of the organisation."""


class Audience(StrEnum):
    """Who a document is for."""

    SITE = "site"
    ORGANISATION = "organisation"
    ROLE = "role"
    USERS = "users"


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    """Who may read a document.

    Attributes:
        audience: everybody on its site, all members, members of a role, or the listed users.
        role: of `Audience.ROLE`.
        users: subjects of tokens, of `Audience.USERS`.
    """

    audience: Audience = Audience.SITE
    role: OrgRole | None = None
    users: tuple[str, ...] = ()

    def grants(self, site: str) -> frozenset[str]:
        """Return the grants of which a reader needs one. `site` is the document's; empty for the whole organisation."""
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
    """Return the grants that a caller holds on a site. An admin holds a member's as well."""
    public = {f"site:{site}", f"site:{ANY_SITE}"}
    if isinstance(caller, Visitor):
        return frozenset(public)
    if isinstance(caller, Member) and caller.membership and caller.membership.active:
        roles = {OrgRole.MEMBER, caller.membership.role}
        return frozenset({*public, "members", f"user:{caller.user}", *(f"role:{role}" for role in roles)})
    return frozenset()
