"""The API of documents, and what its documents are stored in."""

from __future__ import annotations

from typing import Any

from fencepost.identity.domain.scope import OrgRole
from fencepost.queue.domain import Purpose
from tests.worlds.api import ApiWorld
from tests.worlds.chat import Reply
from tests.worlds.corpus import CorpusWorld
from tests.worlds.whole_api import documents

DOCUMENTS = "/v1/documents"
TEXT = {"text": "# Guide\n\nInstall it.", "title": "Guide"}
REQUESTS = [
    ("GET", "", None),
    ("POST", "", TEXT),
    ("POST", "/uploads", {"contentType": "text/plain", "size": 9}),
    ("GET", "/c1", None),
    ("PATCH", "/c1", {"title": "Mine"}),
    ("DELETE", "/c1", None),
    ("POST", "/c1/refresh", None),
]
"""One of each kind; `c1` is a document."""


class DocumentsWorld:
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
