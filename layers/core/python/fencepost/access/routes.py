"""`POST /v1/visitors`: issue a visitor token for a site, or renew one."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.access.callers import Callers
from fencepost.access.schemas import VisitorBody, VisitorRequest
from fencepost.access.service import VisitorService
from fencepost.http.body import read_body
from fencepost.http.cors import SiteOrigins
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, ok
from fencepost.http.schemas import done
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError


@dataclass(frozen=True, slots=True)
class VisitorRoutes(RouteGroup):
    """Public: the page's origin is checked instead of a token. A request with the old token renews it."""

    service: VisitorService
    sites: SiteService
    callers: Callers
    origins: SiteOrigins

    def _issue(self, call: Call) -> Response:
        body = read_body(call.request, VisitorRequest, ErrorCode.SITE_MISSING)
        renewed = self.callers.renewed(call.request)
        site = self.sites.site_for_renewal(renewed, body.site) if renewed else self.sites.public(body.site)
        if not self.origins.serves(call.request, lambda: site.origins):
            raise FencepostError(ErrorCode.ORIGIN_NOT_ALLOWED)
        issued = self.service.token(site, renewed)
        return done(VisitorBody(token=issued.token, visitor_id=issued.visitor.visitor_id, expires_at=issued.expires_at))

    table = (
        Route(
            "POST",
            "/v1/visitors",
            _issue,
            "visit",
            "Issue a visitor token for a site, or renew the token that is sent.",
            ok(VisitorBody),
            VisitorRequest,
            errors=(
                ErrorCode.SITE_MISSING,
                ErrorCode.SITE_UNKNOWN,
                ErrorCode.TOKEN_INVALID,
                ErrorCode.TOKEN_EXPIRED,
                ErrorCode.CONVERSATIONS_UNAVAILABLE,
            ),
            public=True,
        ),
    )
