"""The directory on the emulated DynamoDB: copies that are seconds old, versions, keys that belong to one site."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from fencepost.identity.domain.facts import Fact, FactState
from fencepost.identity.domain.origins import parse_origin
from fencepost.identity.domain.scope import Action, Denied, Membership, Operator, OrgRole, Resource, Scope, authorize
from fencepost.identity.domain.sites import LayerBudgets, Organisation, Retention, Site
from fencepost.identity.dynamodb.directory import DynamoDbDirectory
from fencepost.identity.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from fencepost.identity.dynamodb.seconds_cache import SECONDS
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from local.emulator import Emulator
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.tables import sent_operations

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


def operator(org: str = "acme") -> Scope:
    return authorize(Operator(org), Action.ADMINISTER, Resource(org))


@dataclass
class Rows:
    """A directory on tables of its own, with a timer that moves when told to."""

    tables: ConversationTables
    seconds: float = 0.0
    directory: DynamoDbDirectory = field(init=False)
    admin: DynamoDbDirectoryAdmin = field(init=False)

    def __post_init__(self) -> None:
        self.directory = self.another()
        self.admin = DynamoDbDirectoryAdmin(self.tables.directory, lambda: self.tables.client)

    def another(self) -> DynamoDbDirectory:
        """Return the directory of another instance, which knows nothing yet."""
        return DynamoDbDirectory(self.tables.directory, lambda: self.tables.client, lambda: self.seconds)


@pytest.fixture
def rows(emulator: Emulator) -> Rows:
    return Rows(open_conversation_tables(emulator.endpoint_url))


def test_a_site_is_found_by_its_key_and_by_its_id_as_it_was_stored(rows: Rows) -> None:
    stored = rows.admin.put_site(operator(), DOCS)
    assert stored == replace(DOCS, version=1)
    assert rows.directory.site_by_key("acme-docs") == rows.directory.site("acme", "docs") == stored
    assert rows.admin.site(operator(), "docs") == stored


def test_what_is_absent_is_absent(rows: Rows) -> None:
    assert rows.directory.site_by_key("none") is None
    assert rows.directory.site("acme", "none") is None
    assert rows.directory.organisation("acme") is None
    assert rows.directory.membership("acme", "u1") is None
    assert rows.admin.site(operator(), "none") is None
    assert rows.admin.organisation(operator()) is None
    assert rows.admin.sites(operator()) == ()
    assert rows.admin.memberships(operator()) == ()


def test_a_change_raises_the_version(rows: Rows) -> None:
    assert [rows.admin.put_site(operator(), DOCS).version for _ in range(3)] == [1, 2, 3]
    acme = Organisation(id="acme", name="Acme", default_site="docs", allows_carry=True, version=70)
    assert rows.admin.put_organisation(operator(), acme) == replace(acme, version=1)
    assert rows.admin.put_organisation(operator(), acme) == replace(acme, version=2)
    granted = Membership("acme", "u1", OrgRole.ADMIN, active=True, version=0)
    assert rows.admin.put_membership(operator(), granted) == replace(granted, version=1)
    revoked = replace(granted, active=False)
    assert rows.admin.put_membership(operator(), revoked) == replace(revoked, version=2)
    assert rows.directory.membership("acme", "u1") == replace(revoked, version=2)


def test_a_change_replaces_the_version_that_it_names_or_nothing(rows: Rows) -> None:
    acme = Organisation(id="acme")
    assert rows.admin.put_site(operator(), DOCS, replaces=0).version == 1
    assert rows.admin.put_site(operator(), DOCS, replaces=1).version == 2
    assert rows.admin.put_organisation(operator(), acme, replaces=0).version == 1
    assert rows.admin.put_organisation(operator(), acme, replaces=1).version == 2
    for stale in (0, 1, 3):
        with pytest.raises(FencepostError, match=r"^settings_changed$"):
            rows.admin.put_site(operator(), replace(DOCS, model=""), replaces=stale)
        with pytest.raises(FencepostError, match=r"^settings_changed$"):
            rows.admin.put_organisation(operator(), replace(acme, name="Acme"), replaces=stale)
    assert rows.admin.site(operator(), "docs") == replace(DOCS, version=2)
    assert rows.admin.organisation(operator()) == replace(acme, version=2)


def test_of_many_changes_to_one_version_one_is_made(rows: Rows) -> None:
    def put(number: int) -> bool:
        try:
            rows.admin.put_site(operator(), replace(DOCS, product_prompt=f"Prompt {number}."), replaces=1)
        except FencepostError as error:
            return error.code is not ErrorCode.SETTINGS_CHANGED
        return True

    rows.admin.put_site(operator(), DOCS)
    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(put, range(6))) == 1


def test_a_copy_of_a_site_is_seconds_old_at_most(rows: Rows) -> None:
    rows.admin.put_site(operator(), DOCS)
    rows.directory.site("acme", "docs")
    rows.seconds = SECONDS - 1
    assert rows.directory.site_by_key("acme-docs") == replace(DOCS, version=1)
    closed = rows.admin.put_site(operator(), replace(DOCS, active=False))
    assert rows.directory.site("acme", "docs") == replace(DOCS, version=1), "a copy is kept"
    rows.seconds += SECONDS
    assert rows.directory.site_by_key("acme-docs") is None
    assert rows.directory.site("acme", "docs") == closed


def test_the_origins_are_those_of_all_active_sites_and_seconds_old_at_most(rows: Rows) -> None:
    assert rows.directory.origins("acme") == frozenset()
    rows.seconds = SECONDS
    rows.admin.put_site(operator(), DOCS)
    shop = replace(DOCS, id="shop", key="acme-shop", origins=(parse_origin("https://shop.example"),))
    rows.admin.put_site(operator(), shop)
    both = {*DOCS.origins, *shop.origins}
    assert rows.directory.origins("acme") == both
    assert rows.directory.origins("zeta") == frozenset()
    rows.admin.put_site(operator(), replace(shop, active=False))
    assert rows.directory.origins("acme") == both, "a copy is kept"
    rows.seconds += SECONDS
    assert rows.directory.origins("acme") == set(DOCS.origins)


def test_a_revocation_waits_for_the_transactions_that_look_at_the_membership(rows: Rows) -> None:
    granted = rows.admin.put_membership(operator(), Membership("acme", "u1", OrgRole.MEMBER, active=True, version=0))
    met = rows.tables.conflict("UpdateItem", 2)
    revoked = rows.admin.put_membership(operator(), replace(granted, active=False))
    assert rows.directory.membership("acme", "u1") == revoked
    assert (revoked.active, revoked.version, len(met)) == (False, 2, 2)


def test_a_copy_of_an_organisation_is_seconds_old_at_most(rows: Rows) -> None:
    first = rows.admin.put_organisation(operator(), Organisation(id="acme"))
    assert rows.directory.organisation("acme") == first
    second = rows.admin.put_organisation(operator(), Organisation(id="acme", allows_carry=True))
    assert rows.directory.organisation("acme") == first
    rows.seconds = SECONDS
    assert rows.directory.organisation("acme") == second


def test_what_is_new_is_known_at_once(rows: Rows) -> None:
    assert rows.directory.site_by_key("acme-docs") is None
    rows.admin.put_site(operator(), DOCS)
    assert rows.directory.site_by_key("acme-docs") == replace(DOCS, version=1)


def test_copies_cost_the_store_nothing_and_memberships_are_always_read(rows: Rows) -> None:
    rows.admin.put_site(operator(), DOCS)
    sent = sent_operations(rows.tables.client)
    for _ in range(5):
        rows.directory.site_by_key("acme-docs")
    assert sent == ["GetItem"] * 2
    for _ in range(3):
        rows.directory.membership("acme", "u1")
    assert sent == ["GetItem"] * 5


def test_a_key_belongs_to_one_site(rows: Rows) -> None:
    rows.admin.put_site(operator(), DOCS)
    for other in (replace(DOCS, id="shop"), replace(DOCS, org="globex")):
        with pytest.raises(FencepostError) as refused:
            rows.admin.put_site(operator(other.org), other)
        assert refused.value.code is ErrorCode.SITE_KEY_TAKEN
        assert rows.admin.site(operator(other.org), other.id) == (
            replace(DOCS, version=1) if (other.org, other.id) == ("acme", "docs") else None
        )


def test_a_site_that_takes_another_key_gives_the_old_one_free(rows: Rows) -> None:
    rows.admin.put_site(operator(), DOCS)
    rows.admin.put_site(operator(), replace(DOCS, key="new"))
    assert rows.directory.site_by_key("acme-docs") is None
    assert rows.directory.site_by_key("new") == replace(DOCS, key="new", version=2)
    rows.admin.put_site(operator("globex"), replace(DOCS, org="globex", key="acme-docs"))


def test_of_many_sites_that_want_one_key_one_gets_it(rows: Rows) -> None:
    def take(number: int) -> ErrorCode | None:
        try:
            rows.admin.put_site(operator(f"org{number}"), replace(DOCS, key="wanted"))
        except FencepostError as error:
            return error.code
        return None

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(take, range(8)))
    assert sorted(codes, key=str) == [None] + [ErrorCode.SITE_KEY_TAKEN] * 7


def test_no_version_is_given_twice(rows: Rows) -> None:
    granted = Membership("acme", "u1", OrgRole.MEMBER, active=True, version=0)
    with ThreadPoolExecutor(8) as pool:
        versions = [
            row.version for row in pool.map(lambda _: rows.admin.put_membership(operator(), granted), range(24))
        ]
    assert sorted(versions) == list(range(1, 25))
    with ThreadPoolExecutor(4) as pool:
        versions = [row.version for row in pool.map(lambda _: rows.admin.put_site(operator(), DOCS), range(4))]
    assert sorted(versions) == [1, 2, 3, 4]


def test_lists_hold_the_organisations_own_in_order(rows: Rows) -> None:
    for org in ("acme", "globex"):
        for name in ("shop", "docs"):
            rows.admin.put_site(operator(org), Site(org=org, id=name, key=f"{org}-{name}"))
            rows.admin.put_membership(operator(org), Membership(org, f"{name}#%/é", OrgRole.MEMBER, True, 0))
    assert [(site.org, site.id) for site in rows.admin.sites(operator())] == [("acme", "docs"), ("acme", "shop")]
    assert [(row.org, row.user) for row in rows.admin.memberships(operator())] == [
        ("acme", "docs#%/é"),
        ("acme", "shop#%/é"),
    ]


def test_a_list_is_complete_however_many_pages_it_has(rows: Rows) -> None:
    prompt = "x" * 100_000
    for number in range(12):
        rows.admin.put_site(operator(), Site(org="acme", id=f"s{number:02}", key=f"k{number}", product_prompt=prompt))
    assert [site.id for site in rows.admin.sites(operator())] == [f"s{number:02}" for number in range(12)]


def test_a_scope_made_for_something_else_opens_no_settings(rows: Rows) -> None:
    scope = rows.tables.member_scope("acme", "u1", Action.READ)
    with pytest.raises(Denied):
        rows.admin.put_site(scope, DOCS)
    with pytest.raises(Denied):
        rows.admin.put_membership(scope, Membership("acme", "u1", OrgRole.ADMIN, True, 0))
    with pytest.raises(Denied):
        rows.admin.put_organisation(scope, Organisation(id="acme"))
    for read in (rows.admin.sites, rows.admin.memberships, rows.admin.organisation):
        with pytest.raises(Denied):
            read(scope)


def test_whatever_a_row_says_of_its_organisation_it_stays_in_the_scopes(rows: Rows) -> None:
    rows.admin.put_site(operator(), replace(DOCS, org="globex"))
    rows.admin.put_membership(operator(), Membership("globex", "u1", OrgRole.ADMIN, True, 0))
    rows.admin.put_organisation(operator(), Organisation(id="globex"))
    assert rows.directory.site("globex", "docs") is None
    assert rows.directory.membership("globex", "u1") is None
    assert rows.directory.organisation("globex") is None
    assert rows.directory.membership("acme", "u1") == Membership("acme", "u1", OrgRole.ADMIN, True, 1)


def test_a_store_that_does_not_answer_says_so(rows: Rows) -> None:
    gone = DynamoDbDirectory("no-such-table", lambda: rows.tables.client)
    admin = DynamoDbDirectoryAdmin("no-such-table", lambda: rows.tables.client)
    for call in (
        lambda: gone.site("acme", "docs"),
        lambda: gone.membership("acme", "u1"),
        lambda: admin.put_site(operator(), DOCS),
        lambda: admin.put_organisation(operator(), Organisation(id="acme")),
        lambda: admin.sites(operator()),
    ):
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call()
