"""The directory on the emulated DynamoDB: ages of copies, races and requests; else `tests.conformance.directory`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import pytest

from fencepost.identity.domain.scope import Membership, OrgRole
from fencepost.identity.domain.sites import Organisation, Site, parse_origin
from fencepost.identity.dynamodb.directory import SECONDS, DynamoDbDirectory
from fencepost.identity.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from fencepost.kernel.errors import ErrorCode, FencepostError
from local.emulator import Emulator
from tests.conformance.directory import DOCS, operator
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.tables import sent_operations


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


def test_copies_cost_the_store_nothing_and_memberships_are_always_read(rows: Rows) -> None:
    rows.admin.put_site(operator(), DOCS)
    sent = sent_operations(rows.tables.client)
    for _ in range(5):
        rows.directory.site_by_key("acme-docs")
    assert sent == ["GetItem"] * 2
    for _ in range(3):
        rows.directory.membership("acme", "u1")
    assert sent == ["GetItem"] * 5


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


def test_a_list_is_complete_however_many_pages_it_has(rows: Rows) -> None:
    prompt = "x" * 100_000
    for number in range(12):
        rows.admin.put_site(operator(), Site(org="acme", id=f"s{number:02}", key=f"k{number}", product_prompt=prompt))
    assert [site.id for site in rows.admin.sites(operator())] == [f"s{number:02}" for number in range(12)]
