"""The caller of a request: its token, its organisation, and its current membership."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from fencepost.access.callers import MAX_TOKEN_CHARACTERS, Callers, bearer_token
from fencepost.access.ports import TokenSubject
from fencepost.access.tokens.visitor_tokens import SignedVisitorTokens
from fencepost.http.proxy import Request
from fencepost.identity.domain.scope import Action, Denied, Member, Operator, OrgRole, Visitor, authorize, own
from fencepost.identity.domain.sites import LayerBudgets, Organisation, Site
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.fakes.answers import FakeKeys, FixedClock
from tests.fakes.directory import FakeDirectory
from tests.worlds.chat import NOON

VISITOR = Visitor("acme", "docs", "v1")
A_MEMBERS = "aGVhZGVy.cGF5bG9hZA.c2ln"


def request(**headers: str) -> Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request("GET", "/v1/{proxy+}", named, "", False, "203.0.113.7", None, "1", "/v1/conversations")


class Members:
    """Implements `MemberTokens` with the same user for each token."""

    def __init__(self, default_org: str | None) -> None:
        self._default_org = default_org

    def read(self, token: str, now: datetime) -> TokenSubject:
        return TokenSubject("u1", self._default_org)


class Visitors(SignedVisitorTokens):
    """Takes what it did not sign for a member's."""

    def is_visitors(self, token: str) -> bool:
        return token != A_MEMBERS and super().is_visitors(token)


def callers(directory: FakeDirectory | None = None, default_org: str | None = None) -> Callers:
    tokens = Visitors(FakeKeys(), timedelta(hours=1))
    return Callers(tokens, Members(default_org), directory or FakeDirectory(), FixedClock(NOON))


def visitors_token(known: Callers) -> str:
    return f"Bearer {known.visitors.issue(VISITOR, NOON).token}"


@pytest.mark.parametrize("header", [A_MEMBERS, "Basic dTpw", f"Token {A_MEMBERS}", "", " "])
def test_without_a_bearer_token_one_is_asked_for(header: str) -> None:
    with pytest.raises(FencepostError) as refused:
        callers().principal(request(authorization=header))
    assert refused.value.code is ErrorCode.TOKEN_MISSING
    assert bearer_token(request()) is None


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer a.b",
        "Bearer a.b.",
        "Bearer a.b.c.d",
        "Bearer a.b.c, d.e.f",
        "Bearer a b c",
        "Bearer a.b.é",
        "Bearer a.b.\ud800",
        "Bearer\ta.b.c",
        f"Bearer a.b.{'c' * MAX_TOKEN_CHARACTERS}",
    ],
)
def test_what_cannot_be_a_token_is_invalid(header: str) -> None:
    with pytest.raises(FencepostError) as refused:
        callers().principal(request(authorization=header))
    assert refused.value.code is ErrorCode.TOKEN_INVALID


@pytest.mark.parametrize("header", [f"Bearer {A_MEMBERS}", f"bearer  {A_MEMBERS} ", f"BEARER {A_MEMBERS}"])
def test_the_schemes_letters_may_be_of_either_case(header: str) -> None:
    assert bearer_token(request(authorization=header)) == A_MEMBERS


@pytest.mark.parametrize(
    ("chosen", "default", "org"), [("acme", None, "acme"), ("acme", "zeta", "acme"), (" ", "zeta", "zeta")]
)
def test_a_members_organisation_is_the_headers_or_the_tokens(chosen: str, default: str | None, org: str) -> None:
    found = callers(default_org=default).principal(request(authorization=f"Bearer {A_MEMBERS}", x_org_id=chosen))
    assert found == Member(org, "u1", None)


def test_a_member_without_an_organisation_is_asked_for_one() -> None:
    with pytest.raises(FencepostError) as refused:
        callers().principal(request(authorization=f"Bearer {A_MEMBERS}"))
    assert refused.value.code is ErrorCode.ORGANISATION_MISSING


@pytest.mark.parametrize("chosen", ["Acme", "-acme", "a" * 64, "acme#", "ac me", "acmé", "../acme"])
def test_what_is_no_organisation_is_not_found(chosen: str) -> None:
    with pytest.raises(Denied) as denied:
        callers().principal(request(authorization=f"Bearer {A_MEMBERS}", x_org_id=chosen))
    assert (denied.value.code, denied.value.reason) == (ErrorCode.NOT_FOUND, "not_a_member")


def test_nobody_may_do_anything_before_the_membership_is_read() -> None:
    directory = FakeDirectory()
    directory.grant("acme", "u1", OrgRole.ADMIN)
    known = callers(directory)
    principal = known.principal(request(authorization=f"Bearer {A_MEMBERS}", x_org_id="acme"))
    for action in Action:
        with pytest.raises(Denied):
            authorize(principal, action, own(principal))
    caller = known.caller(principal)
    assert authorize(caller, Action.ADMINISTER, own(caller)).permission_version == 1


def test_whoever_is_no_member_is_denied_before_anything_else_is_read() -> None:
    directory = FakeDirectory()
    known = callers(directory)
    directory.grant("acme", "u1")
    directory.revoke("acme", "u1")
    for org, reason in (("acme", "suspended"), ("zeta", "not_a_member"), ("nowhere", "not_a_member")):
        with pytest.raises(Denied) as denied:
            known.caller(known.principal(request(authorization=f"Bearer {A_MEMBERS}", x_org_id=org)))
        assert denied.value.reason == reason
    assert set(directory.reads) == {"membership"}


def test_no_store_is_asked_for_a_principal() -> None:
    directory = FakeDirectory()
    known = callers(directory)
    known.principal(request(authorization=visitors_token(known)))
    known.principal(request(authorization=f"Bearer {A_MEMBERS}", x_org_id="acme"))
    assert directory.reads == []


def test_a_visitor_stays_in_the_tokens_organisation() -> None:
    known = callers()
    token = visitors_token(known)
    assert known.principal(request(authorization=token)) == VISITOR
    assert known.principal(request(authorization=token, x_org_id="acme")) == VISITOR
    with pytest.raises(Denied) as denied:
        known.principal(request(authorization=token, x_org_id="zeta"))
    assert denied.value.reason == "organisation_mismatch"


def test_a_visitors_token_ends_with_its_site() -> None:
    directory = FakeDirectory()
    known = callers(directory)
    for closed in (None, directory.add_site("acme", "docs", active=False)):
        assert closed is None or not closed.active
        with pytest.raises(FencepostError) as refused:
            known.caller(VISITOR)
        assert refused.value.code is ErrorCode.TOKEN_INVALID
    directory.add_site("acme", "docs")
    assert known.caller(VISITOR) == VISITOR


def test_whoever_leaves_a_closed_site_is_still_who_they_were() -> None:
    directory = FakeDirectory()
    known = callers(directory)
    with pytest.raises(FencepostError, match="token_invalid"):
        known.caller(VISITOR, leaving=True)
    directory.add_site("acme", "docs", active=False)
    assert known.caller(VISITOR, leaving=True) == VISITOR


# Which site they are on.

DEFAULTS = Site(
    org="",
    id="",
    key="",
    model="claude-haiku-4-5",
    documents_url="https://docs.example",
    budgets=LayerBudgets(facts_tokens=5),
)


def test_a_site_leaves_what_it_does_not_set_to_the_deployment() -> None:
    directory = FakeDirectory()
    bare = directory.add_site("acme", "docs")
    rich = directory.add_site(
        "acme",
        "shop",
        model="claude-opus-5",
        documents_url="https://shop.example",
        budgets=LayerBudgets(facts_tokens=7),
    )
    sites = SiteService(directory, DEFAULTS)
    filled = replace(bare, model=DEFAULTS.model, documents_url=DEFAULTS.documents_url, budgets=DEFAULTS.budgets)
    assert sites.site_for(VISITOR) == sites.public("acme-docs") == filled
    assert sites.site_for(Visitor("acme", "shop", "v1")) == rich


def test_a_member_is_on_the_named_site_or_on_the_default_or_on_none() -> None:
    directory, member = FakeDirectory(), Member("acme", "u1", None)
    sites = SiteService(directory, DEFAULTS)
    nowhere = sites.site_for(member)
    assert nowhere == replace(DEFAULTS, org="acme") == sites.site_for(Operator("acme"))
    directory.add_site("acme", "docs")
    directory.add_site("acme", "shop")
    assert sites.site_for(member).id == "docs"
    assert sites.site_for(member, "acme-shop").id == "shop"
    assert sites.open_site("acme", "") == nowhere


def test_absent_foreign_and_closed_sites_are_unknown() -> None:
    directory, member = FakeDirectory(), Member("acme", "u1", None)
    directory.add_site("acme", "docs")
    directory.add_site("acme", "shop")
    directory.add_site("acme", "old", active=False)
    directory.add_site("zeta", "docs")
    sites = SiteService(directory, DEFAULTS)
    directory.add_organisation(Organisation(id="shut", default_site="old"))
    directory.add_site("shut", "old", active=False)
    finds: tuple[Callable[[], Site], ...] = (
        lambda: sites.site_for(Member("shut", "u1", None)),
        lambda: sites.open_site("acme", "old"),
        lambda: sites.open_site("acme", "none"),
        lambda: sites.site_for(member, "none"),
        lambda: sites.site_for(member, "zeta-docs"),
        lambda: sites.site_for(member, "acme-old"),
        lambda: sites.site_for(VISITOR, "acme-shop"),
        lambda: sites.site_for(Visitor("acme", "old", "v1")),
        lambda: sites.site_for(Visitor("acme", "none", "v1")),
        lambda: sites.public("acme-old"),
        lambda: sites.public("none"),
    )
    for find in finds:
        with pytest.raises(FencepostError) as refused:
            find()
        assert refused.value.code is ErrorCode.SITE_UNKNOWN


def test_an_organisation_that_set_nothing_has_the_usual_settings() -> None:
    directory = FakeDirectory()
    sites = SiteService(directory, DEFAULTS)
    assert sites.organisation("acme") == Organisation(id="acme")
    directory.add_organisation(Organisation(id="acme", allows_carry=True))
    assert sites.organisation("acme").allows_carry
