"""`/v1/documents…`: refreshed, changed and removed, and what stands in the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.documents.domain.documents import DocumentOrigin, DocumentState
from fencepost.documents.routes import DocumentRoutes
from fencepost.http.cursors import Cursors
from fencepost.identity.domain.scope import Audience, OrgRole
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.domain import Job, Purpose
from tests.worlds.api import ApiWorld
from tests.worlds.documents import DOCUMENTS, REQUESTS, DocumentsWorld


@pytest.fixture
def world() -> DocumentsWorld:
    return DocumentsWorld()


def test_a_refresh_reads_again(world: DocumentsWorld) -> None:
    world.corpus.run("c1")

    reply = world.ask("POST", "/c1/refresh")

    assert (reply.status, reply.json["state"], reply.json["version"]) == (202, "queued", 1)
    assert world.jobs == [("c1", Purpose.INGEST)]


def test_what_is_found_follows_a_change(world: DocumentsWorld) -> None:
    world.corpus.run("c1")

    changed = world.ask("PATCH", "/c1", {"acl": {"audience": "organisation"}, "text": "# Guide\n\nRun it."})

    assert (changed.status, changed.json["acl"], changed.json["state"]) == (200, {"audience": "organisation"}, "queued")
    # The row's rights, by which hits are checked, hold before any job has run.
    assert world.corpus.document("c1").acl.audience is Audience.ORGANISATION
    world.corpus.work()
    assert {entry.grants for entry in world.corpus.index.entries.values()} == {frozenset({"members"})}
    assert "".join(world.corpus.read("c1")) == "# Guide\n\nRun it."


def test_what_changes_nothing_that_is_found_needs_no_job(world: DocumentsWorld) -> None:
    world.corpus.run("c1")

    reply = world.ask("PATCH", "/c1", {"url": "https://docs.example/new", "refreshHours": 12})

    assert (reply.json["url"], reply.json["refreshHours"], reply.json["state"]) == (
        "https://docs.example/new",
        12,
        "ready",
    )
    assert world.jobs == []
    assert world.ask("PATCH", "/c1", {}).status == 200


def test_the_text_of_what_is_fetched_is_not_sent(world: DocumentsWorld) -> None:
    page = world.ask("POST", body={"source": "https://docs.example/"}).json

    reply = world.ask("PATCH", f"/{page['id']}", {"text": "Mine."})

    assert (reply.status, reply.code) == (400, "document_invalid")


def test_a_removed_document_is_absent_at_once_and_gone_soon(world: DocumentsWorld) -> None:
    world.corpus.run("c1")

    assert world.ask("DELETE", "/c1").status == 204

    for method, path, body in REQUESTS:
        if "c1" in path:
            assert world.ask(method, path, body).status == 404
    assert world.ask("GET").json["items"] == []
    world.corpus.work()
    assert (world.corpus.store.documents, world.corpus.index.entries) == ({}, {})


def test_a_sitemaps_pages_come_and_go_with_it(world: DocumentsWorld) -> None:
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


def test_a_queue_that_does_not_answer_loses_nothing(world: DocumentsWorld) -> None:
    def refuse(_jobs: list[Job]) -> None:
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    world.corpus.queue.send = refuse  # type: ignore[method-assign,assignment]  # a fault of this port alone

    added = world.add()

    assert world.corpus.document(added["id"]).state is DocumentState.QUEUED
    world.api.clock.advance(15 * 60)
    assert ("acme", added["id"]) in world.corpus.store.due(world.api.clock(), 10)


def test_changes_that_are_always_too_late_are_told_so(world: DocumentsWorld) -> None:
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


def test_why_a_document_failed_is_told(world: DocumentsWorld) -> None:
    page = world.ask("POST", body={"source": "https://docs.example/absent"}).json
    world.corpus.work()

    told = world.ask("GET", f"/{page['id']}").json

    assert (told["state"], told["error"], told["title"]) == ("failed", "source_unreachable", "")
    assert world.corpus.document(page["id"]).origin is DocumentOrigin.PAGE
