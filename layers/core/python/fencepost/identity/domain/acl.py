"""Who may read a document: audiences, and the grants that a caller holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fencepost.identity.domain.scope import Caller, Member, OrgRole, Visitor

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
