"""`/v1/admin/…`: what an organisation's admin sets. To everybody else there is nothing here."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fencepost.http.body import read_settings
from fencepost.http.errors import InvalidFields
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.http.schemas import Sent
from fencepost.identity.domain.scope import ORG_ID, Action
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.web.admin.schemas import (
    MemberList,
    MemberSettings,
    OrganisationSettings,
    SiteList,
    SiteSettings,
    member_body,
    organisation_body,
    site_body,
)
from fencepost.web.admin.service import Administration


@dataclass(frozen=True, slots=True)
class AdminRoutes:
    """Each route authorises, then reads what was sent, then acts. `PUT` replaces: what is left out is not kept."""

    service: Administration

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("GET", "/v1/admin/organisation", self._organisation),
            Route("PUT", "/v1/admin/organisation", self._put_organisation),
            Route("GET", "/v1/admin/sites", self._sites),
            Route("GET", "/v1/admin/sites/{id}", self._site),
            Route("PUT", "/v1/admin/sites/{id}", self._put_site),
            Route("GET", "/v1/admin/members", self._members),
            Route("PUT", "/v1/admin/members/{user}", self._put_member),
        )

    def _organisation(self, call: Call) -> Response:
        return _ok(organisation_body(self.service.organisation(call.scope(Action.ADMINISTER))))

    def _put_organisation(self, call: Call) -> Response:
        scope = call.scope(Action.ADMINISTER)
        body = read_settings(call.request, OrganisationSettings)
        stored = self.service.put_organisation(scope, body.organisation(scope.org), replaces=body.version)
        if stored is None:
            raise InvalidFields(ErrorCode.ADMIN_INPUT_INVALID, ["defaultSite"])
        return _ok(organisation_body(stored))

    def _sites(self, call: Call) -> Response:
        sites = self.service.sites(call.scope(Action.ADMINISTER))
        return _ok(SiteList(items=list(map(site_body, sites))))

    def _site(self, call: Call) -> Response:
        site = self.service.site(call.scope(Action.ADMINISTER), call.params["id"])
        if site is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return _ok(site_body(site))

    def _put_site(self, call: Call) -> Response:
        scope, site_id = call.scope(Action.ADMINISTER), call.params["id"]
        body = read_settings(call.request, SiteSettings)
        if not ORG_ID.fullmatch(site_id):
            raise InvalidFields(ErrorCode.ADMIN_INPUT_INVALID, ["id"])
        site = body.site(scope.org, site_id, self.service.budgets)
        return _ok(site_body(self.service.put_site(scope, site, body.fact_texts, replaces=body.version)))

    def _members(self, call: Call) -> Response:
        members = self.service.members(call.scope(Action.ADMINISTER))
        return _ok(MemberList(items=list(map(member_body, members))))

    def _put_member(self, call: Call) -> Response:
        scope = call.scope(Action.ADMINISTER)
        body = read_settings(call.request, MemberSettings)
        return _ok(member_body(self.service.put_member(scope, call.params["user"], body.org_role())))


def _ok(body: Sent) -> Response:
    return json_response("done", HTTPStatus.OK, body.wire())
