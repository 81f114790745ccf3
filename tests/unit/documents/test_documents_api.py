"""`/v1/documents…`: added, listed and read by admins, and by nobody else."""

from __future__ import annotations

import pytest

from fencepost.identity.domain.scope import Acl, Audience, OrgRole
from fencepost.queue.domain import Purpose
from tests.worlds.documents import DOCUMENTS, REQUESTS, TEXT, DocumentsWorld


@pytest.fixture
def world() -> DocumentsWorld:
    return DocumentsWorld()


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
@pytest.mark.parametrize("who", ["a member", "a stranger", "a visitor", "an admin elsewhere"])
def test_to_others_there_is_nothing(world: DocumentsWorld, who: str, method: str, path: str, body: object) -> None:
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
def test_another_organisations_document_is_absent(world: DocumentsWorld, method: str, path: str, body: object) -> None:
    world.api.directory.grant("zeta", "theirs", OrgRole.ADMIN)

    reply = world.api.ask(method, f"{DOCUMENTS}{path}", world.api.member("theirs", "zeta"), body)

    assert (reply.status, reply.code) == (404, "not_found")
    assert world.jobs == []


def test_a_text_is_added_read_and_told_of(world: DocumentsWorld) -> None:
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
def test_an_address_tells_what_stands_there_unless_it_is_said(world: DocumentsWorld, source: str, origin: str) -> None:
    told = world.ask("POST", body={"source": source, "refreshHours": 24}).json
    said = world.ask("POST", body={"source": source, "origin": "page"}).json

    assert (told["origin"], told["source"], told["url"], told["refreshHours"]) == (origin, source, source, 24)
    assert said["origin"] == "page"


def test_documents_are_listed_newest_first_page_by_page(world: DocumentsWorld) -> None:
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
def test_a_list_is_asked_for_properly(world: DocumentsWorld, query: str) -> None:
    code = "cursor_invalid" if "cursor" in query else "query_invalid"
    reply = world.ask("GET", query)
    assert (reply.status, reply.code) == (400, code)


def test_rights_are_stored_as_they_are_set(world: DocumentsWorld) -> None:
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
    world: DocumentsWorld, changes: dict[str, object], field: str
) -> None:
    body = {name: value for name, value in {**TEXT, **changes}.items() if value is not None}

    reply = world.ask("POST", body=body)

    assert (reply.status, reply.code) == (400, "document_invalid")
    assert reply.json["fields"] == [field]
    assert world.jobs == []


def test_an_upload_is_announced_sent_and_read(world: DocumentsWorld) -> None:
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
def test_an_upload_that_cannot_be_is_refused(
    world: DocumentsWorld, changes: dict[str, object], status: int, code: str
) -> None:
    reply = world.ask("POST", "/uploads", {"contentType": "text/plain", "size": 9, **changes})
    assert (reply.status, reply.code) == (status, code)
