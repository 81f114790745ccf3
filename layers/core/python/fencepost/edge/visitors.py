"""`POST /v1/visitors`: a token for whoever reads a site's page. With the old token it is renewed, silently."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from pydantic import Field

from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.edge.body import Body, read_body
from fencepost.edge.callers import Callers
from fencepost.edge.cors import SiteOrigins
from fencepost.edge.http import Response, json_response
from fencepost.edge.models_conversations import Sent
from fencepost.edge.router import Call, Route
from fencepost.services.sites import SiteService
from fencepost.services.visitors import VisitorService


class VisitorRequest(Body):
    """Which site the visitor is on."""

    site: str = Field(min_length=1, max_length=128, description="Its public key.")


class VisitorBody(Sent):
    """A visitor's token."""

    token: str = Field(description="Send it as `Authorization: Bearer …`.")
    visitor_id: str = Field(description="Stays the same when the token is renewed.")
    expires_at: datetime = Field(description="Renew the token before: `POST /v1/visitors` with the old one.")


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
