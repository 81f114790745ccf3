"""Exports, imports and attachments over HTTP: the wire, and what a client can do wrong."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import pytest

from fencepost.conversations.domain.attachments import MAX_FILE_BYTES
from fencepost.conversations.routes.attachments import AttachmentRoutes
from fencepost.kernel.errors import ErrorCode
from fencepost.lifecycle.routes.exports import ExportRoutes
from fencepost.lifecycle.routes.imports import ImportRoutes
from fencepost.queue.domain import Job, Purpose
from tests.worlds.api import ANN, BOB, ApiWorld
from tests.worlds.storage import StorageWorld


@dataclass
class World:
    """The API, and the storage behind it."""

    api: ApiWorld
    storage: StorageWorld

    def ask(self, method: str, address: str, body: object = None, *, who: str = ANN, org: str = "acme") -> Any:
        return self.api.ask(method, address, self.api.visitor(who, org), body)

    def work(self) -> None:
        """Run all jobs that were queued."""
        handlers = {
            Purpose.EXPORT: self.storage.exports.run,
            Purpose.IMPORT: self.storage.imports.run,
            Purpose.SCAN_ATTACHMENT: self.storage.attachments.run,
        }
        for job in self.jobs:
            handlers[job.purpose](self.api.scope(job.owner.removeprefix("visitor:"), job.org), job)
        self.jobs.clear()

    @property
    def jobs(self) -> list[Job]:
        return self.storage.jobs.queued

    def bundle(self, job_id: str, who: str = ANN) -> str:
        """Return an exported bundle in Base64."""
        content = self.storage.blobs.get(self.api.scope(who), f"exports/{job_id}.zip")
        assert content is not None
        return base64.b64encode(content).decode()


@pytest.fixture
def world() -> World:
    api = ApiWorld()
    storage = StorageWorld(clock=api.clock, shelf=api.store.shelf, directory=api.directory, keys=api.keys)
    api.more_routes = (
        *ExportRoutes(storage.exports, api.clock).routes(),
        *ImportRoutes(storage.imports, api.clock).routes(),
        *AttachmentRoutes(storage.attachments, api.clock).routes(),
    )
    api.converse(api.scope(ANN), "talk", 3)
    return World(api, storage)


def test_an_export_is_a_job_that_ends_with_a_link(world: World) -> None:
    asked = world.ask("POST", "/v1/conversations/talk/exports")
    assert (asked.status, asked.json["state"]) == (202, "queued")
    job_id = asked.json["jobId"]
    assert "url" not in world.ask("GET", f"/v1/exports/{job_id}").json
    world.work()
    done = world.ask("GET", f"/v1/exports/{job_id}").json
    assert done["state"] == "done"
    assert done["progress"]["conversations"] == 1
    assert done["url"].startswith("https://")
    assert done["expiresAt"] == "2026-03-14T12:15:30Z"


def test_jobs_of_visitors_name_their_site(world: World) -> None:
    world.ask("POST", "/v1/exports")
    assert [(job.site, job.actor, job.owner) for job in world.jobs] == [("docs", f"visitor:{ANN}", f"visitor:{ANN}")]


@pytest.mark.parametrize(
    ("method", "address"),
    [("POST", "/v1/conversations/{}/exports"), ("GET", "/v1/exports/{}"), ("GET", "/v1/imports/{}")],
)
def test_absent_and_foreign_answer_the_same(world: World, method: str, address: str) -> None:
    job_id = world.ask("POST", "/v1/exports").json["jobId"]
    name = "talk" if "conversations" in address else job_id
    replies = [world.ask(method, address.format(one), who=BOB) for one in (name, "absent")]
    replies.append(world.ask(method, address.format(name), org="zeta"))
    assert {(reply.status, reply.code, reply.json["error"]) for reply in replies} == {
        (404, "not_found", "There is nothing at this address.")
    }


def test_without_a_token_nothing_is_exported_imported_or_attached(world: World) -> None:
    for method, address in (("POST", "/v1/exports"), ("POST", "/v1/imports"), ("POST", "/v1/attachments")):
        assert world.api.send(method, address).status == 401
    assert not world.jobs


def test_a_small_bundle_is_imported_from_the_request(world: World) -> None:
    job_id = world.ask("POST", "/v1/exports").json["jobId"]
    world.work()
    asked = world.ask("POST", "/v1/imports", {"bundle": world.bundle(job_id)})
    assert asked.status == 202
    world.work()
    done = world.ask("GET", f"/v1/imports/{asked.json['jobId']}").json
    assert (done["state"], done["progress"]) == ("done", {"conversations": 0, "facts": 0})


def test_a_foreign_bundle_is_refused_at_once(world: World) -> None:
    job_id = world.ask("POST", "/v1/exports").json["jobId"]
    world.work()
    body = {"bundle": world.bundle(job_id)}
    for reply in (world.ask("POST", "/v1/imports", body, who=BOB), world.ask("POST", "/v1/imports", body, org="zeta")):
        assert (reply.status, reply.code) == (400, ErrorCode.BUNDLE_FOREIGN)
    assert not world.jobs


def test_a_conflict_is_said_at_once(world: World) -> None:
    job_id = world.ask("POST", "/v1/exports").json["jobId"]
    world.work()
    world.api.converse(world.api.scope(ANN), "talk", 1)
    reply = world.ask("POST", "/v1/imports", {"bundle": world.bundle(job_id)})
    assert (reply.status, reply.code) == (409, ErrorCode.IMPORT_CONFLICT)


@pytest.mark.parametrize(
    ("bundle", "code"),
    [
        (7, ErrorCode.IMPORT_INVALID),
        ("not base64!", ErrorCode.IMPORT_INVALID),
        ("YQ", ErrorCode.IMPORT_INVALID),
        (["YQ=="], ErrorCode.IMPORT_INVALID),
        ("", ErrorCode.BUNDLE_INVALID),
        ("YWJj", ErrorCode.BUNDLE_INVALID),
    ],
)
def test_what_is_no_bundle_says_so(world: World, bundle: object, code: ErrorCode) -> None:
    reply = world.ask("POST", "/v1/imports", {"bundle": bundle})
    assert (reply.status, reply.code) == (400, code)


@pytest.mark.parametrize("body", [{}, {"bundle": None}])
def test_a_large_bundle_is_uploaded_and_then_started(world: World, body: dict[str, object]) -> None:
    job_id = world.ask("POST", "/v1/exports").json["jobId"]
    world.work()
    offered = world.ask("POST", "/v1/imports", body)
    assert (offered.status, offered.json["expiresAt"]) == (201, "2026-03-14T12:10:30Z")
    import_id, fields = offered.json["jobId"], offered.json["upload"]["fields"]
    early = world.ask("POST", f"/v1/imports/{import_id}")
    assert (early.status, early.code) == (400, ErrorCode.IMPORT_INVALID)
    assert world.ask("GET", f"/v1/imports/{import_id}").status == 404
    content = base64.b64decode(world.bundle(job_id))
    world.storage.blobs.put(world.api.scope(ANN), fields["key"], content, "application/zip")
    assert world.ask("POST", f"/v1/imports/{import_id}").status == 202
    world.work()
    assert world.ask("GET", f"/v1/imports/{import_id}").json["state"] == "done"


def test_a_file_is_offered_uploaded_scanned_and_ready(world: World) -> None:
    offered = world.ask("POST", "/v1/attachments", {"name": " my\tnotes.txt ", "contentType": "text/plain", "size": 5})
    assert (offered.status, offered.json["name"], offered.json["state"]) == (201, "my notes.txt", "awaited")
    address = f"/v1/attachments/{offered.json['id']}"
    early = world.ask("POST", f"{address}/scan")
    assert (early.status, early.code, early.headers["retry-after"]) == (409, ErrorCode.ATTACHMENT_NOT_READY, "2")
    fields = offered.json["upload"]["fields"]
    world.storage.blobs.put(world.api.scope(ANN), fields["key"], b"Posts", "text/plain")
    scan = world.ask("POST", f"{address}/scan")
    assert (scan.status, "jobId" in scan.json) == (202, True)
    world.work()
    ready = world.ask("GET", address).json
    assert (ready["state"], ready["characters"]) == ("ready", 5)
    again = world.ask("POST", f"{address}/scan")
    assert (again.status, "jobId" in again.json) == (200, False)


def test_somebody_elses_file_is_not_there(world: World) -> None:
    file = world.ask("POST", "/v1/attachments", {"name": "a", "contentType": "text/plain", "size": 5}).json["id"]
    for method, address in (("GET", f"/v1/attachments/{file}"), ("POST", f"/v1/attachments/{file}/scan")):
        assert world.ask(method, address, who=BOB).status == 404
        assert world.ask(method, address, org="zeta").status == 404


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"contentType": "text/html"}, 400, ErrorCode.ATTACHMENT_TYPE_UNSUPPORTED),
        ({"size": MAX_FILE_BYTES + 1}, 413, ErrorCode.ATTACHMENT_TOO_LARGE),
        ({"size": 0}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"size": -1}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"size": 1.5}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"size": "5"}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"size": True}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"size": 10**400}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"size": None}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"name": " \u200b "}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"name": "x" * 201}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"name": 7}, 400, ErrorCode.ATTACHMENT_INVALID),
        ({"contentType": None}, 400, ErrorCode.ATTACHMENT_INVALID),
    ],
)
def test_a_file_that_cannot_be_attached_says_why(
    world: World, change: dict[str, object], status: int, code: ErrorCode
) -> None:
    reply = world.ask("POST", "/v1/attachments", {"name": "a", "contentType": "text/plain", "size": 5} | change)
    assert (reply.status, reply.code) == (status, code)
    assert not world.storage.files.rows
