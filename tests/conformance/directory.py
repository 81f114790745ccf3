"""Conformance tests of every `Directory` and `DirectoryAdmin` over the same rows.

How old a copy may be is the adapter's: `refresh` makes every copy end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fencepost.identity.domain.scope import (
    Action,
    Denied,
    Member,
    Membership,
    Operator,
    OrgRole,
    Resource,
    Scope,
    authorize,
    own,
)
from fencepost.identity.domain.sites import Fact, FactState, LayerBudgets, Organisation, Retention, Site, parse_origin
from fencepost.identity.ports import Directory, DirectoryAdmin
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars

type Refresh = Callable[[], None]

DOCS = Site(
    org="acme",
    id="docs",
    key="acme-docs",
    origins=(parse_origin("https://acme.example"), parse_origin("http://localhost:8080")),
    product_prompt="Acme sells anvils.",
    model="claude-haiku-4-5",
    budgets=LayerBudgets(facts_tokens=1),
    caps=Caps(10, MicroDollars(250_000)),
    retention=Retention(days=30, rows=500),
    documents_url="https://acme.example/docs",
    facts="propose",
    own_facts=(
        Fact(
            id="old",
            text="Acme is open on Sundays.",
            state=FactState.SUPERSEDED,
            pinned_by="site",
            created_at=datetime(2026, 3, 1, tzinfo=UTC),
        ),
        Fact(
            id="new",
            text="Acme is closed on Sundays.",
            state=FactState.PINNED,
            pinned_by="site",
            created_at=datetime(2026, 3, 2, tzinfo=UTC),
        ),
    ),
)
SHOP = replace(DOCS, id="shop", key="acme-shop", origins=(parse_origin("https://shop.example"),))
GRANTED = Membership("acme", "u1", OrgRole.ADMIN, active=True, version=0)


def operator(org: str = "acme") -> Scope:
    return authorize(Operator(org), Action.ADMINISTER, Resource(org))


class DirectoryConformance:
    """The tests. A subclass provides `subject`, `admin` and `refresh`, and `broken` and `broken_admin`."""

    def test_a_site_is_found_by_key_and_by_id_as_stored(self, subject: Directory, admin: DirectoryAdmin) -> None:
        stored = admin.put_site(operator(), DOCS)
        assert stored == replace(DOCS, version=1)
        assert subject.site_by_key("acme-docs") == subject.site("acme", "docs") == stored
        assert admin.site(operator(), "docs") == stored

    def test_missing_rows_are_none_and_missing_lists_empty(self, subject: Directory, admin: DirectoryAdmin) -> None:
        assert subject.site_by_key("none") is None
        assert subject.site("acme", "none") is None
        assert subject.organisation("acme") is None
        assert subject.membership("acme", "u1") is None
        assert subject.origins("acme") == frozenset()
        assert admin.site(operator(), "none") is None
        assert admin.organisation(operator()) is None
        assert admin.sites(operator()) == ()
        assert admin.memberships(operator()) == ()

    def test_every_change_raises_the_version(self, subject: Directory, admin: DirectoryAdmin) -> None:
        assert [admin.put_site(operator(), DOCS).version for _ in range(3)] == [1, 2, 3]
        acme = Organisation(id="acme", name="Acme", default_site="docs", allows_carry=True, version=70)
        assert admin.put_organisation(operator(), acme) == replace(acme, version=1)
        assert admin.put_organisation(operator(), acme) == replace(acme, version=2)
        assert admin.put_membership(operator(), GRANTED) == replace(GRANTED, version=1)
        revoked = replace(GRANTED, active=False)
        assert admin.put_membership(operator(), revoked) == replace(revoked, version=2)
        assert subject.membership("acme", "u1") == replace(revoked, version=2)
        assert subject.organisation("acme") == replace(acme, version=2)

    def test_a_change_replaces_the_version_that_it_names_or_nothing(self, admin: DirectoryAdmin) -> None:
        acme = Organisation(id="acme")
        assert admin.put_site(operator(), DOCS, replaces=0).version == 1
        assert admin.put_site(operator(), DOCS, replaces=1).version == 2
        assert admin.put_organisation(operator(), acme, replaces=0).version == 1
        assert admin.put_organisation(operator(), acme, replaces=1).version == 2
        for stale in (0, 1, 3):
            with pytest.raises(FencepostError, match=r"^settings_changed$"):
                admin.put_site(operator(), replace(DOCS, model=""), replaces=stale)
            with pytest.raises(FencepostError, match=r"^settings_changed$"):
                admin.put_organisation(operator(), replace(acme, name="Acme"), replaces=stale)
        assert admin.site(operator(), "docs") == replace(DOCS, version=2)
        assert admin.organisation(operator()) == replace(acme, version=2)

    def test_a_closed_site_is_found_by_id_alone(
        self, subject: Directory, admin: DirectoryAdmin, refresh: Refresh
    ) -> None:
        admin.put_site(operator(), DOCS)
        closed = admin.put_site(operator(), replace(DOCS, active=False))
        refresh()
        assert subject.site_by_key("acme-docs") is None
        assert subject.site("acme", "docs") == admin.site(operator(), "docs") == closed

    def test_origins_are_those_of_the_organisations_active_sites(
        self, subject: Directory, admin: DirectoryAdmin, refresh: Refresh
    ) -> None:
        admin.put_site(operator(), DOCS)
        admin.put_site(operator(), SHOP)
        assert subject.origins("acme") == {*DOCS.origins, *SHOP.origins}
        assert subject.origins("zeta") == frozenset()
        admin.put_site(operator(), replace(SHOP, active=False))
        refresh()
        assert subject.origins("acme") == set(DOCS.origins)

    def test_a_new_site_is_known_at_once(self, subject: Directory, admin: DirectoryAdmin) -> None:
        assert subject.site_by_key("acme-docs") is None
        admin.put_site(operator(), DOCS)
        assert subject.site_by_key("acme-docs") == replace(DOCS, version=1)

    def test_a_key_belongs_to_one_site(self, admin: DirectoryAdmin) -> None:
        admin.put_site(operator(), DOCS)
        for other in (replace(DOCS, id="shop"), replace(DOCS, org="globex")):
            with pytest.raises(FencepostError) as refused:
                admin.put_site(operator(other.org), other)
            assert refused.value.code is ErrorCode.SITE_KEY_TAKEN
            assert admin.site(operator(other.org), other.id) is None
        assert admin.site(operator(), "docs") == replace(DOCS, version=1)

    def test_a_site_that_takes_another_key_frees_the_old_one(
        self, subject: Directory, admin: DirectoryAdmin, refresh: Refresh
    ) -> None:
        admin.put_site(operator(), DOCS)
        admin.put_site(operator(), replace(DOCS, key="new"))
        assert subject.site_by_key("acme-docs") is None
        assert subject.site_by_key("new") == replace(DOCS, key="new", version=2)
        taken = admin.put_site(operator("globex"), replace(DOCS, org="globex", key="acme-docs"))
        refresh()
        assert subject.site_by_key("acme-docs") == taken

    def test_lists_hold_the_organisations_rows_in_order(self, admin: DirectoryAdmin) -> None:
        for org in ("acme", "globex"):
            for name in ("shop", "docs"):
                admin.put_site(operator(org), Site(org=org, id=name, key=f"{org}-{name}"))
                admin.put_membership(operator(org), Membership(org, f"{name}#%/é", OrgRole.MEMBER, True, 0))
        assert [(site.org, site.id) for site in admin.sites(operator())] == [("acme", "docs"), ("acme", "shop")]
        users = [(row.org, row.user) for row in admin.memberships(operator())]
        assert users == [("acme", "docs#%/é"), ("acme", "shop#%/é")]

    def test_a_membership_is_stored_while_the_named_user_is_an_active_admin(
        self, subject: Directory, admin: DirectoryAdmin
    ) -> None:
        member = Membership("acme", "u2", OrgRole.MEMBER, active=True, version=0)
        assert admin.put_membership_under(operator(), member, "u1") is None
        admin.put_membership(operator(), GRANTED)
        assert admin.put_membership_under(operator(), member, "u1") == replace(member, version=1)
        assert admin.put_membership_under(operator(), member, "u1") == replace(member, version=2)
        for ended in (replace(GRANTED, active=False), replace(GRANTED, role=OrgRole.MEMBER)):
            admin.put_membership(operator(), ended)
            assert admin.put_membership_under(operator(), replace(member, role=OrgRole.ADMIN), "u1") is None
        assert subject.membership("acme", "u2") == replace(member, version=2)

    def test_an_admin_may_change_their_own_membership(self, subject: Directory, admin: DirectoryAdmin) -> None:
        admin.put_membership(operator(), GRANTED)
        left = replace(GRANTED, role=OrgRole.MEMBER)
        assert admin.put_membership_under(operator(), left, "u1") == replace(left, version=2)
        assert admin.put_membership_under(operator(), GRANTED, "u1") is None
        assert subject.membership("acme", "u1") == replace(left, version=2)

    def test_a_scope_of_another_action_opens_no_settings(self, admin: DirectoryAdmin) -> None:
        caller = Member("acme", "u1", admin.put_membership(operator(), GRANTED))
        scope = authorize(caller, Action.READ, own(caller))
        changes: list[Callable[[], object]] = [
            lambda: admin.put_site(scope, DOCS),
            lambda: admin.put_membership(scope, GRANTED),
            lambda: admin.put_membership_under(scope, GRANTED, "u1"),
            lambda: admin.put_organisation(scope, Organisation(id="acme")),
            lambda: admin.site(scope, "docs"),
            lambda: admin.sites(scope),
            lambda: admin.memberships(scope),
            lambda: admin.organisation(scope),
        ]
        for change in changes:
            with pytest.raises(Denied):
                change()

    def test_rows_stay_in_the_scopes_organisation_whatever_they_name(
        self, subject: Directory, admin: DirectoryAdmin
    ) -> None:
        admin.put_site(operator(), replace(DOCS, org="globex"))
        admin.put_membership(operator(), replace(GRANTED, org="globex"))
        admin.put_membership_under(operator(), replace(GRANTED, org="globex", user="u2"), "u1")
        admin.put_organisation(operator(), Organisation(id="globex"))
        assert subject.site("globex", "docs") is None
        assert subject.membership("globex", "u1") is None
        assert subject.membership("globex", "u2") is None
        assert subject.organisation("globex") is None
        assert subject.membership("acme", "u1") == replace(GRANTED, version=1)

    @pytest.mark.parametrize(
        "call",
        [
            lambda directory: directory.site_by_key("acme-docs"),
            lambda directory: directory.site("acme", "docs"),
            lambda directory: directory.organisation("acme"),
            lambda directory: directory.origins("acme"),
            lambda directory: directory.membership("acme", "u1"),
        ],
    )
    def test_an_unreachable_directory_raises_one_error(
        self, broken: Directory, call: Callable[[Directory], object]
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken)

    @pytest.mark.parametrize(
        "call",
        [
            lambda admin: admin.organisation(operator()),
            lambda admin: admin.put_organisation(operator(), Organisation(id="acme")),
            lambda admin: admin.site(operator(), "docs"),
            lambda admin: admin.put_site(operator(), DOCS),
            lambda admin: admin.sites(operator()),
            lambda admin: admin.put_membership(operator(), GRANTED),
            lambda admin: admin.put_membership_under(operator(), GRANTED, "u1"),
            lambda admin: admin.memberships(operator()),
        ],
    )
    def test_an_unreachable_admin_raises_the_same_error(
        self, broken_admin: DirectoryAdmin, call: Callable[[DirectoryAdmin], object]
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken_admin)
