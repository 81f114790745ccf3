"""The API as an organisation's admin meets it."""

from __future__ import annotations

from fencepost.identity.domain.scope import OrgRole
from fencepost.identity.domain.sites import LayerBudgets
from fencepost.web.admin.routes import AdminRoutes
from fencepost.web.admin.service import Administration
from tests.fakes.answers import FixedClock
from tests.fakes.directory import FakeDirectory
from tests.worlds.api import ApiWorld
from tests.worlds.chat import Reply

ORGANISATION, SITES, MEMBERS = "/v1/admin/organisation", "/v1/admin/sites", "/v1/admin/members"
DEPLOYMENT = LayerBudgets(facts_tokens=700, history_tokens=6)


def world() -> ApiWorld:
    """Return an API where `boss` is an admin of `acme`, and `u1` a member."""
    directory = FakeDirectory()
    made = ApiWorld(
        directory=directory,
        more_routes=AdminRoutes(Administration(directory.administered, DEPLOYMENT, FixedClock())).routes(),
    )
    directory.grant("acme", "boss", OrgRole.ADMIN)
    return made


def ask(api: ApiWorld, method: str, address: str, body: object = None) -> Reply:
    return api.ask(method, address, api.member("boss"), body)
