"""Who makes a request: from the `Authorization` and `X-Org-Id` headers to a caller that rules can decide on."""

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
"""Whom a token names, in the organisation that the request chose. A member's membership is not read yet: until then
everything is denied."""

MAX_TOKEN_CHARACTERS = 8_192
"""The gateway takes 10,240 bytes for all of a request's headers (docs.aws.amazon.com, "Amazon API Gateway quotas")."""

# RFC 6750, section 2.1; the scheme's letters may be of either case (RFC 9110, section 11.1).
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE)
# RFC 7515, section 3.1: header, payload and signature. An empty signature is not ours to accept.
_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Callers:
    """Reads tokens, and memberships as they are now."""

    visitors: VisitorTokens
    members: MemberTokens
    directory: Directory
    clock: Clock

    def principal(self, request: Request) -> Principal:
        """Verify the token and choose the organisation. No store is asked.

        Raises:
            FencepostError: `token_missing`, `token_invalid`, `token_expired`, `organisation_missing`, or
                `identity_unavailable` when the keys of members' tokens cannot be had.
            Denied: the organisation is none, or not the visitor's own.
        """
        token = bearer_token(request)
        if token is None:
            raise FencepostError(ErrorCode.TOKEN_MISSING)
        chosen = request.headers.get("x-org-id", "").strip()
        return self._visitor(token, chosen) if self.visitors.is_visitors(token) else self._member(token, chosen)

    def caller(self, principal: Principal, *, leaving: bool = False) -> Caller:
        """Read what the principal is at this moment: a member's membership, and whether a visitor's site still serves.

        Whoever is no member is denied here, before anything of the organisation is read: nothing in how they are
        answered, not even which pages are served, depends on there being such an organisation.

        Args:
            principal: of the token.
            leaving: a closed site will do, to take away or to erase what was said there.

        Raises:
            Denied: the member is none of this organisation, or suspended.
            FencepostError: `token_invalid` when the visitor's site is gone or closed; `conversations_unavailable`.
        """
        if isinstance(principal, Member):
            member = replace(principal, membership=self.directory.membership(principal.org, principal.user))
            return require_member(member)
        site = self.directory.site(principal.org, principal.site)
        if site is None or not (site.active or leaving):
            raise FencepostError(ErrorCode.TOKEN_INVALID)
        return principal

    def renewed(self, request: Request) -> Visitor | None:
        """Return the visitor whose token came along to be renewed; None where none came.

        Raises:
            FencepostError: `token_invalid`, or `token_expired` when it ended too long ago.
        """
        token = bearer_token(request)
        return None if token is None else self.visitors.read(token, self.clock(), renewing=True)

    def _visitor(self, token: str, chosen: str) -> Visitor:
        visitor = self.visitors.read(token, self.clock())
        if chosen and chosen != visitor.org:
            raise Denied("organisation_mismatch")
        return visitor

    def _member(self, token: str, chosen: str) -> Member:
        subject = self.members.read(token, self.clock())
        org = chosen or subject.default_org
        if not org:
            raise FencepostError(ErrorCode.ORGANISATION_MISSING)
        if not ORG_ID.fullmatch(org):
            raise Denied("not_a_member")
        return Member(org, subject.user, None)


def bearer_token(request: Request) -> str | None:
    """Return the token of the `Authorization` header; None where there is no such header, or one of another scheme.

    Raises:
        FencepostError: `token_invalid`; what stands there is no JSON Web Token in its compact form.
    """
    header = request.headers.get("authorization", "").strip()
    if not header.lower().startswith("bearer"):
        return None
    match = _BEARER.fullmatch(header)
    if not match or len(match[1]) > MAX_TOKEN_CHARACTERS or not _COMPACT.fullmatch(match[1]):
        raise FencepostError(ErrorCode.TOKEN_INVALID)
    return match[1]


def site_of(call: Call) -> str:
    """Return the id of a visitor's site, without which their jobs could not be authorised; empty for members."""
    caller = call.require_caller()
    return caller.site if isinstance(caller, Visitor) else ""
