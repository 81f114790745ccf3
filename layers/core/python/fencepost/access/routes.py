"""`POST /v1/visitors`: a token for whoever reads a site's page. With the old token it is renewed, silently."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fencepost.access.callers import Callers
from fencepost.access.schemas import VisitorBody, VisitorRequest
from fencepost.access.service import VisitorService
from fencepost.http.body import read_body
from fencepost.http.cors import SiteOrigins
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError


@dataclass(frozen=True, slots=True)
class VisitorRoutes:
    """Public: the page's origin is all that is asked for."""

    service: VisitorService
    sites: SiteService
    callers: Callers
    origins: SiteOrigins

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (Route("POST", "/v1/visitors", self._token, public=True),)

    def _token(self, call: Call) -> Response:
        body = read_body(call.request, VisitorRequest, ErrorCode.SITE_MISSING)
        renewed = self.callers.renewed(call.request)
        site = self.sites.renewing(renewed, body.site) if renewed else self.sites.public(body.site)
        if not self.origins.serves(call.request, lambda: site.origins):
            raise FencepostError(ErrorCode.ORIGIN_NOT_ALLOWED)
        issued = self.service.token(site, renewed)
        sent = VisitorBody(token=issued.token, visitor_id=issued.visitor.visitor_id, expires_at=issued.expires_at)
        return json_response("done", HTTPStatus.OK, sent.wire())
