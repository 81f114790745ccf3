"""`/v1/admin/…`: what an organisation's admin sets. To everybody else there is nothing here."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import ORG_ID, Action
from fencepost.edge.body import read_content
from fencepost.edge.errors import InvalidFields
from fencepost.edge.http import Request, Response, json_response
from fencepost.edge.models_admin import (
    MemberList,
    MemberSettings,
    OrganisationSettings,
    Settings,
    SiteList,
    SiteSettings,
    member_body,
    organisation_body,
    site_body,
)
from fencepost.edge.models_conversations import Sent
from fencepost.edge.router import Call, Route
from fencepost.services.administration import Administration

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MOST_NAMED: Final = 20


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


def read_settings[S: Settings](request: Request, model: type[S], code: ErrorCode = ErrorCode.ADMIN_INPUT_INVALID) -> S:
    """Read and validate a body of settings.

    Raises:
        FencepostError: `body_too_large`, `invalid_json` or `not_an_object`.
        InvalidFields: with the code, naming what is wrong.
    """
    content = read_content(request)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        places = dict.fromkeys(map(_place, details))
        raise InvalidFields(code, list(places)[:_MOST_NAMED]) from None


def _place(detail: ErrorDetails) -> str:
    """Return a field's place, e.g. `origins.0`. An unknown one's name is the client's and is not repeated."""
    place = list(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        place[-1] = "(unknown)"
    return ".".join(place)


def _ok(body: Sent) -> Response:
    return json_response("done", HTTPStatus.OK, body.wire())
