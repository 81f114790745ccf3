"""`/v1/admin/…`: admins read and replace the settings of their organisation, its sites and its members."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.http.body import read_settings
from fencepost.http.errors import InvalidFields
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, ok
from fencepost.http.schemas import done
from fencepost.identity.domain.scope import ORG_ID, Action
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.web.admin.schemas import (
    MemberBody,
    MemberList,
    MemberSettings,
    OrganisationBody,
    OrganisationSettings,
    SiteBody,
    SiteList,
    SiteSettings,
    member_body,
    organisation_body,
    site_body,
)
from fencepost.web.admin.service import Administration


@dataclass(frozen=True, slots=True)
class AdminRoutes(RouteGroup):
    """Each handler authorises, reads the request, then acts. Callers who are not admins get `not_found`.

    `PUT` replaces the whole resource: a setting that is left out gets its default.
    """

    service: Administration

    def _organisation(self, call: Call) -> Response:
        return done(organisation_body(self.service.organisation(call.scope(Action.ADMINISTER))))

    def _put_organisation(self, call: Call) -> Response:
        scope = call.scope(Action.ADMINISTER)
        body = read_settings(call.request, OrganisationSettings)
        stored = self.service.put_organisation(scope, body.organisation(scope.org), replaces=body.version)
        if stored is None:
            raise InvalidFields(ErrorCode.ADMIN_INPUT_INVALID, ["defaultSite"])
        return done(organisation_body(stored))

    def _sites(self, call: Call) -> Response:
        sites = self.service.sites(call.scope(Action.ADMINISTER))
        return done(SiteList(items=list(map(site_body, sites))))

    def _site(self, call: Call) -> Response:
        site = self.service.site(call.scope(Action.ADMINISTER), call.params["id"])
        if site is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return done(site_body(site))

    def _put_site(self, call: Call) -> Response:
        scope, site_id = call.scope(Action.ADMINISTER), call.params["id"]
        body = read_settings(call.request, SiteSettings)
        if not ORG_ID.fullmatch(site_id):
            raise InvalidFields(ErrorCode.ADMIN_INPUT_INVALID, ["id"])
        site = body.site(scope.org, site_id, self.service.budgets)
        return done(site_body(self.service.put_site(scope, site, body.fact_texts, replaces=body.version)))

    def _members(self, call: Call) -> Response:
        members = self.service.members(call.scope(Action.ADMINISTER))
        return done(MemberList(items=list(map(member_body, members))))

    def _put_member(self, call: Call) -> Response:
        scope = call.scope(Action.ADMINISTER)
        body = read_settings(call.request, MemberSettings)
        return done(member_body(self.service.put_member(scope, call.params["user"], body.org_role())))

    table = (
        Route(
            "GET",
            "/v1/admin/organisation",
            _organisation,
            "readOrganisation",
            "Read the organisation's settings.",
            ok(OrganisationBody),
        ),
        Route(
            "PUT",
            "/v1/admin/organisation",
            _put_organisation,
            "writeOrganisation",
            "Replace the organisation's settings.",
            ok(OrganisationBody),
            OrganisationSettings,
            errors=(ErrorCode.ADMIN_INPUT_INVALID, ErrorCode.SETTINGS_CHANGED),
        ),
        Route("GET", "/v1/admin/sites", _sites, "listSites", "List the sites.", ok(SiteList)),
        Route("GET", "/v1/admin/sites/{id}", _site, "readSite", "Read a site's settings.", ok(SiteBody)),
        Route(
            "PUT",
            "/v1/admin/sites/{id}",
            _put_site,
            "writeSite",
            "Create a site, or replace its settings.",
            ok(SiteBody),
            SiteSettings,
            errors=(
                ErrorCode.ADMIN_INPUT_INVALID,
                ErrorCode.SITE_KEY_TAKEN,
                ErrorCode.SETTINGS_CHANGED,
                ErrorCode.FACTS_TOO_LARGE,
            ),
        ),
        Route("GET", "/v1/admin/members", _members, "listMembers", "List the members.", ok(MemberList)),
        Route(
            "PUT",
            "/v1/admin/members/{user}",
            _put_member,
            "writeMember",
            "Set a member's role, or end the membership.",
            ok(MemberBody),
            MemberSettings,
            errors=(ErrorCode.ADMIN_INPUT_INVALID, ErrorCode.LAST_ADMIN),
        ),
    )
