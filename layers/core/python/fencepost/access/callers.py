"""Read the caller of a request from its `Authorization` and `X-Org-Id` headers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from fencepost.access.ports import MemberTokens, VisitorTokens
from fencepost.http.proxy import Request
from fencepost.http.routing import Call
from fencepost.identity.domain.scope import ORG_ID, Caller, Denied, Member, Visitor, require_member
from fencepost.identity.ports import Directory
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock

type Principal = Visitor | Member
"""The verified user of a token in the organisation of the request. A member's membership is not read yet, so any action
would be denied."""

MAX_TOKEN_CHARACTERS = 8_192
"""Below the gateway's limit of 10,240 bytes for all headers (docs.aws.amazon.com, "Amazon API Gateway quotas")."""

# RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, section 11.1).
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE)
# RFC 7515, section 3.1: header, payload and signature. Unsigned tokens are not accepted.
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Callers:
    """Verifies tokens and reads current memberships."""

    visitors: VisitorTokens
    members: MemberTokens
    directory: Directory
    clock: Clock

    def principal(self, request: Request) -> Principal:
        """Verify the token and determine the organisation, without reading any store.

        Raises:
            FencepostError: `token_missing`, `token_invalid`, `token_expired`, `organisation_missing`, or
                `identity_unavailable` if the keys of members' tokens cannot be read.
            Denied: the organisation's id is malformed, or not that of the visitor's token.
        """
        token = bearer_token(request)
        if token is None:
            raise FencepostError(ErrorCode.TOKEN_MISSING)
        chosen = request.headers.get("x-org-id", "").strip()
        if not self.visitors.is_visitors(token):
            return self._member(token, chosen)
        visitor = self.visitors.read(token, self.clock())
        if chosen and chosen != visitor.org:
            raise Denied("organisation_mismatch")
        return visitor

    def caller(self, principal: Principal, *, leaving: bool = False) -> Caller:
        """Read a member's membership, or check that a visitor's site is open, and return the caller.

        Users who are not members are denied here, before any other data of the organisation is read. So no response,
        not even its CORS headers, tells them whether the organisation exists.

        Args:
            principal: user of the token.
            leaving: accept closed sites, for requests that export or erase data.

        Raises:
            Denied: the user is not a member of the organisation, or suspended.
            FencepostError: `token_invalid` if the visitor's site does not exist or is closed;
                `conversations_unavailable`.
        """
        if isinstance(principal, Member):
            member = replace(principal, membership=self.directory.membership(principal.org, principal.user))
            return require_member(member)
        site = self.directory.site(principal.org, principal.site)
        if site is None or not (site.active or leaving):
            raise FencepostError(ErrorCode.TOKEN_INVALID)
        return principal

    def renewed(self, request: Request) -> Visitor | None:
        """Return the visitor of a token that is to be renewed; None if the request has no token.

        Raises:
            FencepostError: `token_invalid`, or `token_expired` if the token expired too long ago.
        """
        token = bearer_token(request)
        return None if token is None else self.visitors.read(token, self.clock(), renewing=True)

    def _member(self, token: str, chosen: str) -> Member:
        subject = self.members.read(token, self.clock())
        org = chosen or subject.default_org
        if not org:
            raise FencepostError(ErrorCode.ORGANISATION_MISSING)
        if not ORG_ID.fullmatch(org):
            raise Denied("not_a_member")
        return Member(org, subject.user, None)


def bearer_token(request: Request) -> str | None:
    """Return the token of the `Authorization` header; None if there is no such header, or its scheme is another one.

    Raises:
        FencepostError: `token_invalid`; the value is not a JSON Web Token in compact form.
    """
    header = request.headers.get("authorization", "").strip()
    if not header.lower().startswith("bearer"):
        return None
    match = _BEARER.fullmatch(header)
    if not match or len(match[1]) > MAX_TOKEN_CHARACTERS or not _COMPACT.fullmatch(match[1]):
        raise FencepostError(ErrorCode.TOKEN_INVALID)
    return match[1]


def site_of(call: Call) -> str:
    """Return the id of a visitor's site, which authorises their jobs; empty for members."""
    caller = call.require_caller()
    return caller.site if isinstance(caller, Visitor) else ""
