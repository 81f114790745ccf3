"""`/v1/documents…`: added, listed, changed and removed by admins, and by nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fencepost.domain.corpus import Acl, Audience, DocumentState, Origin
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import OrgRole
from fencepost.domain.jobs import Job, Purpose
from fencepost.edge.cursors import Cursors
from fencepost.edge.documents import DocumentRoutes
from tests.api_world import ApiWorld
from tests.chat_world import Reply
from tests.corpus_world import CorpusWorld
from tests.whole_api import documents

DOCUMENTS = "/v1/documents"
TEXT = {"text": "# Guide\n\nInstall it.", "title": "Guide"}


class World:
    """The API, and what its documents are stored in. `boss` is an admin of `acme`; `c1` is a document."""

    def __init__(self) -> None:
        self.api = ApiWorld()
        self.corpus = CorpusWorld(clock=self.api.clock)
        self.api.directory.grant("acme", "boss", OrgRole.ADMIN)
        self.api.more_routes = documents(self.api, self.corpus)

    def ask(self, method: str, path: str = "", body: object = None) -> Reply:
        """Ask as the admin."""
        return self.api.ask(method, f"{DOCUMENTS}{path}", self.api.member("boss"), body)

    def add(self, **fields: object) -> Any:
        """Add a document, and return it as the API tells of it."""
        reply = self.ask("POST", body={**TEXT, **fields})
        assert reply.status == 202
        return reply.json

    @property
    def jobs(self) -> list[tuple[str | None, Purpose]]:
        """What is queued."""
        return [(job.document, job.purpose) for job in self.corpus.queue.jobs]


@pytest.fixture
def world() -> World:
    return World()


REQUESTS = [
    ("GET", "", None),
    ("POST", "", TEXT),
    ("POST", "/uploads", {"contentType": "text/plain", "size": 9}),
    ("GET", "/c1", None),
    ("PATCH", "/c1", {"title": "Mine"}),
    ("DELETE", "/c1", None),
    ("POST", "/c1/refresh", None),
]


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
@pytest.mark.parametrize("who", ["a member", "a stranger", "a visitor", "an admin elsewhere"])
def test_to_others_there_is_nothing(world: World, who: str, method: str, path: str, body: object) -> None:
    world.api.directory.grant("zeta", "theirs", OrgRole.ADMIN)
    headers = {
        "a member": world.api.member("u1"),
        "a stranger": world.api.member("nobody"),
        "a visitor": world.api.visitor(),
        "an admin elsewhere": world.api.member("theirs"),
    }[who]
    before = dict(world.corpus.store.documents)

    reply = world.api.ask(method, f"{DOCUMENTS}{path}", headers, body)

    assert (reply.status, reply.code) == (404, "not_found")
    assert (world.corpus.store.documents, world.jobs) == (before, [])


@pytest.mark.parametrize(("method", "path", "body"), [row for row in REQUESTS if "c1" in row[1]])
def test_another_organisations_document_is_absent(world: World, method: str, path: str, body: object) -> None:
    world.api.directory.grant("zeta", "theirs", OrgRole.ADMIN)

    reply = world.api.ask(method, f"{DOCUMENTS}{path}", world.api.member("theirs", "zeta"), body)

    assert (reply.status, reply.code) == (404, "not_found")
    assert world.jobs == []


def test_a_text_is_added_read_and_told_of(world: World) -> None:
    added = world.add(site="docs", url="https://docs.example/guide", language="en")
    assert (added["state"], added["version"], added["origin"]) == ("queued", 0, "inline")
    assert world.jobs == [(added["id"], Purpose.INGEST)]

    world.corpus.work()

    told = world.ask("GET", f"/{added['id']}").json
    assert (told["state"], told["version"], told["chunks"], told["title"]) == ("ready", 1, 2, "Guide")
    assert (told["site"], told["url"], told["language"]) == ("docs", "https://docs.example/guide", "en")
    assert told["acl"] == {"audience": "site"}
    assert "error" not in told


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        ("https://docs.example/guide", "page"),
        ("https://docs.example/llms-full.txt", "llms_full"),
        ("https://docs.example/sitemap.xml", "sitemap"),
    ],
)
def test_an_address_tells_what_stands_there_unless_it_is_said(world: World, source: str, origin: str) -> None:
    told = world.ask("POST", body={"source": source, "refreshHours": 24}).json
    said = world.ask("POST", body={"source": source, "origin": "page"}).json

    assert (told["origin"], told["source"], told["url"], told["refreshHours"]) == (origin, source, source, 24)
    assert said["origin"] == "page"


def test_documents_are_listed_newest_first_page_by_page(world: World) -> None:
    ids = ["c1"]
    for _ in range(4):
        world.api.clock.advance(1)
        ids.append(world.add()["id"])
    world.ask("DELETE", f"/{ids[2]}")
    ids.remove(ids[2])

    first = world.ask("GET", "?limit=3").json
    second = world.ask("GET", f"?limit=3&cursor={first['nextCursor']}").json

    assert [row["id"] for row in first["items"] + second["items"]] == ids[::-1]
    assert "nextCursor" not in second


@pytest.mark.parametrize("query", ["?limit=0", "?limit=101", "?cursor=made-up", "?colour=red"])
def test_a_list_is_asked_for_properly(world: World, query: str) -> None:
    code = "cursor_invalid" if "cursor" in query else "query_invalid"
    reply = world.ask("GET", query)
    assert (reply.status, reply.code) == (400, code)


def test_rights_are_stored_as_they_are_set(world: World) -> None:
    role = world.add(acl={"audience": "role", "role": "admin"})
    users = world.add(acl={"audience": "users", "users": ["u1", "u2", "u1"]})

    stored = world.corpus.store.documents
    assert stored["acme", role["id"]].acl == Acl(audience=Audience.ROLE, role=OrgRole.ADMIN)
    assert stored["acme", users["id"]].acl == Acl(audience=Audience.USERS, users=("u1", "u2"))
    assert users["acl"] == {"audience": "users", "users": ["u1", "u2"]}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"text": None}, ""),
        ({"text": "  "}, "text"),
        ({"source": "https://docs.example/"}, ""),
        ({"refreshHours": 24}, ""),
        ({"origin": "page"}, ""),
        ({"text": None, "source": "ftp://docs.example/"}, "source"),
        ({"text": None, "source": "https://user@docs.example/"}, "source"),
        ({"text": None, "source": "javascript:alert(1)"}, "source"),
        ({"url": "javascript:alert(1)"}, "url"),
        ({"title": "x" * 201}, "title"),
        ({"site": "Not A Site"}, "site"),
        ({"site": "absent"}, "site"),
        ({"language": "no language"}, "language"),
        ({"kind": "pdf"}, "kind"),
        ({"text": None, "source": "https://docs.example/", "refreshHours": -1}, "refreshHours"),
        ({"acl": {"audience": "everybody"}}, "acl.audience"),
        ({"acl": {"audience": "role"}}, "acl"),
        ({"acl": {"audience": "site", "role": "admin"}}, "acl"),
        ({"acl": {"audience": "users", "users": []}}, "acl"),
        ({"acl": {"audience": "users", "users": ["u 1"]}}, "acl.users.0"),
        ({"colour": "red"}, "(unknown)"),
    ],
)
def test_a_document_that_is_described_wrongly_is_refused_by_name(
    world: World, changes: dict[str, object], field: str
) -> None:
    body = {name: value for name, value in {**TEXT, **changes}.items() if value is not None}

    reply = world.ask("POST", body=body)

    assert (reply.status, reply.code) == (400, "document_invalid")
    assert reply.json["fields"] == [field]
    assert world.jobs == []


def test_an_upload_is_announced_sent_and_read(world: World) -> None:
    body = {"title": "Manual", "contentType": "text/markdown", "size": 100}
    offered = world.ask("POST", "/uploads", body)
    assert (offered.status, offered.json["state"], offered.json["kind"]) == (201, "awaited", "markdown")
    form = offered.json["upload"]["fields"]
    assert (form["max"], form["Content-Type"]) == ("100", "text/markdown")
    assert offered.json["expiresAt"] == "2026-03-14T12:10:30Z"
    path = f"/{offered.json['id']}"

    early = world.ask("POST", f"{path}/refresh")
    assert (early.status, early.code) == (409, "document_not_uploaded")
    world.corpus.blobs.upload("acme", form["key"], b"# Manual\n\nRead it.")
    assert world.ask("POST", f"{path}/refresh").status == 202
    world.corpus.work()

    told = world.ask("GET", path).json
    assert (told["state"], told["chunks"], told["sizeBytes"]) == ("ready", 2, 18)


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"contentType": "image/png"}, 400, "document_type_unsupported"),
        ({"size": 20_000_001}, 413, "document_too_large"),
        ({"size": 0}, 400, "document_invalid"),
        ({"site": "absent"}, 400, "document_invalid"),
    ],
)
def test_an_upload_that_cannot_be_is_refused(world: World, changes: dict[str, object], status: int, code: str) -> None:
    reply = world.ask("POST", "/uploads", {"contentType": "text/plain", "size": 9, **changes})
    assert (reply.status, reply.code) == (status, code)


def test_a_refresh_reads_again(world: World) -> None:
    world.corpus.run("c1")

    reply = world.ask("POST", "/c1/refresh")

    assert (reply.status, reply.json["state"], reply.json["version"]) == (202, "queued", 1)
    assert world.jobs == [("c1", Purpose.INGEST)]


def test_what_is_found_follows_a_change(world: World) -> None:
    world.corpus.run("c1")

    changed = world.ask("PATCH", "/c1", {"acl": {"audience": "organisation"}, "text": "# Guide\n\nRun it."})

    assert (changed.status, changed.json["acl"], changed.json["state"]) == (200, {"audience": "organisation"}, "queued")
    # The row's rights, by which hits are checked, hold before any job has run.
    assert world.corpus.document("c1").acl.audience is Audience.ORGANISATION
    world.corpus.work()
    assert {entry.grants for entry in world.corpus.index.entries.values()} == {frozenset({"members"})}
    assert "".join(world.corpus.read("c1")) == "# Guide\n\nRun it."


def test_what_changes_nothing_that_is_found_needs_no_job(world: World) -> None:
    world.corpus.run("c1")

    reply = world.ask("PATCH", "/c1", {"url": "https://docs.example/new", "refreshHours": 12})

    assert (reply.json["url"], reply.json["refreshHours"], reply.json["state"]) == (
        "https://docs.example/new",
        12,
        "ready",
    )
    assert world.jobs == []
    assert world.ask("PATCH", "/c1", {}).status == 200


def test_the_text_of_what_is_fetched_is_not_sent(world: World) -> None:
    page = world.ask("POST", body={"source": "https://docs.example/"}).json

    reply = world.ask("PATCH", f"/{page['id']}", {"text": "Mine."})

    assert (reply.status, reply.code) == (400, "document_invalid")


def test_a_removed_document_is_absent_at_once_and_gone_soon(world: World) -> None:
    world.corpus.run("c1")

    assert world.ask("DELETE", "/c1").status == 204

    for method, path, body in REQUESTS:
        if "c1" in path:
            assert world.ask(method, path, body).status == 404
    assert world.ask("GET").json["items"] == []
    world.corpus.work()
    assert (world.corpus.store.documents, world.corpus.index.entries) == ({}, {})


def test_a_sitemaps_pages_come_and_go_with_it(world: World) -> None:
    source = "https://docs.example/sitemap.xml"
    world.corpus.web.serve(source, "<urlset><url><loc>https://docs.example/a</loc></url></urlset>")
    world.corpus.web.serve("https://docs.example/a", "# A\n\nPage A.")
    sitemap = world.ask("POST", body={"source": source, "acl": {"audience": "organisation"}}).json
    world.corpus.work()

    (page,) = [row for row in world.ask("GET").json["items"] if row.get("parent") == sitemap["id"]]
    assert (page["state"], page["title"], page["acl"]) == ("ready", "A", {"audience": "organisation"})

    world.ask("PATCH", f"/{sitemap['id']}", {"acl": {"audience": "site"}})
    world.corpus.work()
    assert world.ask("GET", f"/{page['id']}").json["acl"] == {"audience": "site"}
    assert {entry.grants for entry in world.corpus.index.entries.values()} == {frozenset({"site:*"})}

    world.ask("DELETE", f"/{sitemap['id']}")
    world.corpus.work()
    assert [row["id"] for row in world.ask("GET").json["items"]] == ["c1"]
    assert world.corpus.index.entries == {}


def test_a_queue_that_does_not_answer_loses_nothing(world: World) -> None:
    def refuse(_jobs: list[Job]) -> None:
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    world.corpus.queue.send = refuse  # type: ignore[method-assign,assignment]  # a fault of this port alone

    added = world.add()

    assert world.corpus.document(added["id"]).state is DocumentState.QUEUED
    world.api.clock.advance(15 * 60)
    assert ("acme", added["id"]) in world.corpus.store.due(world.api.clock(), 10)


def test_changes_that_are_always_too_late_are_told_so(world: World) -> None:
    def interfere() -> None:
        known = world.corpus.store.documents["acme", "c1"]
        world.corpus.store.documents["acme", "c1"] = replace(known, size_bytes=known.size_bytes + 1)

    world.corpus.faults.between = interfere

    reply = world.ask("PATCH", "/c1", {"title": "Mine"})

    assert (reply.status, reply.code, reply.headers["retry-after"]) == (409, "document_busy", "5")


def test_without_an_index_an_admin_is_told_so_and_others_nothing() -> None:
    api = ApiWorld()
    api.directory.grant("acme", "boss", OrgRole.ADMIN)
    api.more_routes = DocumentRoutes(None, lambda _org, _site: True, Cursors(api.keys), api.clock).routes()

    for method, path, body in REQUESTS:
        told = api.ask(method, f"{DOCUMENTS}{path}", api.member("boss"), body)
        others = api.ask(method, f"{DOCUMENTS}{path}", api.member("u1"), body)
        assert (told.status, told.code, others.status) == (501, "retrieval_disabled", 404)


def test_why_a_document_failed_is_told(world: World) -> None:
    page = world.ask("POST", body={"source": "https://docs.example/absent"}).json
    world.corpus.work()

    told = world.ask("GET", f"/{page['id']}").json

    assert (told["state"], told["error"], told["title"]) == ("failed", "source_unreachable", "")
    assert world.corpus.document(page["id"]).origin is Origin.PAGE
