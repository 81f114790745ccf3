"""Documents, their objects and their jobs in plain memory, with the adapters' rules and faults on demand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from fencepost.blobs.ports import UploadForm
from fencepost.documents.domain.documents import ChunkRow, Document, DocumentState, due_at
from fencepost.documents.ports import ChunkVersionPlace
from fencepost.identity.domain.scope import Action, Operator, Resource, Scope, authorize
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.paging import Page
from fencepost.queue.domain import Job, WorkLease
from tests.fakes.answers import Fault
from tests.fakes.blobs import FakeBlobs

type Owned = tuple[str, str]
"""Organisation and document."""


def operator(org: str = "acme") -> Scope:
    """Return the scope in which documents' jobs run."""
    return authorize(Operator(org), Action.ADMINISTER, Resource(org))


@dataclass
class PortFaults:
    """What goes wrong with the next calls of several ports, and what is looked at around each.

    Attributes:
        due: a fault for each of the next calls, in order; None lets one pass.
        calls: names of all calls, in order.
        between: called before and after each call, as a reader would come in.
    """

    due: deque[Fault | None] = field(default_factory=deque)
    calls: list[str] = field(default_factory=list)
    between: Callable[[], None] | None = None

    def at(self, call: int, fault: Fault) -> None:
        """Let the call with this index, counted from here, fail."""
        self.due = deque([*([None] * call), fault])

    @contextmanager
    def call(self, name: str, failure: Exception | None = None) -> Iterator[None]:
        """Stand around one call of a port."""
        self.calls.append(name)
        fault = self.due.popleft() if self.due else None
        error = failure or FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        self._look()
        if fault == "before":
            raise error
        yield
        self._look()
        if fault == "after":
            raise error

    def count(self, name: str) -> int:
        """Return how often a call was made."""
        return self.calls.count(name)

    def _look(self) -> None:
        if self.between:
            look, self.between = self.between, None
            look()
            self.between = look


class FakeCorpus:
    """Implements `CorpusStore`.

    Attributes:
        documents, rows, stands: what is stored, to be looked at.
        written: ids of the chunks whose rows were written, in order.
    """

    def __init__(self, faults: PortFaults | None = None) -> None:
        self.faults = faults or PortFaults()
        self.documents: dict[Owned, Document] = {}
        self.rows: dict[tuple[str, str, str], ChunkRow] = {}
        self.stands: dict[tuple[str, str, int], Mapping[str, ChunkVersionPlace]] = {}
        self.leases: dict[Owned, WorkLease] = {}
        self.written: list[str] = []

    def create(self, scope: Scope, document: Document) -> bool:
        with self.faults.call("create"):
            known = self.documents.setdefault((scope.org, document.id), document)
            return known == document

    def get(self, scope: Scope, document_id: str) -> Document | None:
        with self.faults.call("get"):
            return self.documents.get((scope.org, document_id))

    def page(self, scope: Scope, *, after: str | None, limit: int) -> Page[Document]:
        with self.faults.call("page"):
            shown = [
                document
                for (org, _), document in self.documents.items()
                if org == scope.org and document.state is not DocumentState.REMOVED
            ]
            rest = sorted(
                (one for one in shown if after is None or _position(one) < after), key=_position, reverse=True
            )
            some = rest[:limit]
            return Page(tuple(some), _position(some[-1]) if len(rest) > limit else None)

    def change(self, scope: Scope, before: Document, after: Document) -> bool:
        with self.faults.call("change"):
            known = self.documents.get((scope.org, before.id))
            if known == before:
                self.documents[scope.org, before.id] = after
            return known in (before, after)

    def remove(self, scope: Scope, document_id: str) -> None:
        with self.faults.call("remove"):
            self.documents.pop((scope.org, document_id), None)
            self.leases.pop((scope.org, document_id), None)

    def begin(self, scope: Scope, document_id: str, lease: WorkLease) -> bool:
        with self.faults.call("begin"):
            held = self.leases.get((scope.org, document_id))
            if held and held.holder != lease.holder and held.until > lease.now:
                return False
            self.leases[scope.org, document_id] = lease
            return True

    def end(self, scope: Scope, document_id: str, lease: WorkLease) -> None:
        with self.faults.call("end"):
            held = self.leases.get((scope.org, document_id))
            if held and held.holder == lease.holder:
                del self.leases[scope.org, document_id]

    def chunks(self, scope: Scope, document_id: str, *, after: str | None, limit: int) -> Page[ChunkRow]:
        with self.faults.call("chunks"):
            rows = [row for row in self.rows_of(scope.org, document_id) if after is None or row.id > after]
            some = rows[:limit]
            return Page(tuple(some), some[-1].id if len(rows) > limit else None)

    def put_chunks(self, scope: Scope, document_id: str, rows: Sequence[ChunkRow]) -> None:
        with self.faults.call("put_chunks"):
            self.rows |= {(scope.org, document_id, row.id): row for row in rows}
            self.written += [row.id for row in rows]

    def drop_chunks(self, scope: Scope, document_id: str, chunk_ids: Sequence[str]) -> None:
        with self.faults.call("drop_chunks"):
            for chunk in chunk_ids:
                self.rows.pop((scope.org, document_id, chunk), None)

    def put_places(self, scope: Scope, document_id: str, version: int, places: Mapping[str, ChunkVersionPlace]) -> None:
        with self.faults.call("put_places"):
            self.stands[scope.org, document_id, version] = dict(places)

    def drop_places(self, scope: Scope, document_id: str, version: int) -> None:
        with self.faults.call("drop_places"):
            self.stands.pop((scope.org, document_id, version), None)

    def hydrate(
        self, scope: Scope, wanted: Sequence[tuple[str, str]]
    ) -> tuple[Mapping[str, Document], Mapping[tuple[str, str], ChunkRow]]:
        with self.faults.call("hydrate"):
            documents = {one: self.documents.get((scope.org, one)) for one, _ in wanted}
            rows = {pair: self.rows.get((scope.org, *pair)) for pair in wanted}
            return (
                {one: document for one, document in documents.items() if document},
                {pair: row for pair, row in rows.items() if row},
            )

    def places(
        self, scope: Scope, wanted: Sequence[tuple[str, int, str]]
    ) -> Mapping[tuple[str, str], ChunkVersionPlace]:
        with self.faults.call("places"):
            found = (
                (document, chunk, self.stands.get((scope.org, document, version), {}).get(chunk))
                for document, version, chunk in wanted
            )
            return {(document, chunk): place for document, chunk, place in found if place}

    def due(self, now: datetime, limit: int) -> tuple[tuple[str, str], ...]:
        """Implements `Agenda`."""
        with self.faults.call("due"):
            waiting = [
                (at, owned) for owned, document in self.documents.items() if (at := due_at(document)) and at <= now
            ]
            return tuple(owned for _, owned in sorted(waiting)[:limit])

    def rows_of(self, org: str, document_id: str, version: int | None = None) -> list[ChunkRow]:
        """Return a document's rows, of one version where it is named, by their ids."""
        return [
            row
            for (owner, document, _), row in sorted(self.rows.items())
            if (owner, document) == (org, document_id) and (version is None or row.is_part_of(version))
        ]


class OrganisationBlobs:
    """Implements `BlobStore` as documents have it: objects belong to the organisation, whoever acts."""

    def __init__(self, faults: PortFaults | None = None) -> None:
        self.inner = FakeBlobs()
        self.faults = faults or PortFaults()

    def put(self, scope: Scope, name: str, content: bytes, content_type: str) -> None:
        with self.faults.call("put"):
            self.inner.put(operator(scope.org), name, content, content_type)

    def get(self, scope: Scope, name: str) -> bytes | None:
        with self.faults.call("get_object"):
            return self.inner.get(operator(scope.org), name)

    def delete(self, scope: Scope, prefix: str) -> int:
        with self.faults.call("delete_objects"):
            return self.inner.delete(operator(scope.org), prefix)

    def names(self, scope: Scope, prefix: str) -> Iterator[str]:
        with self.faults.call("names"):
            return self.inner.names(operator(scope.org), prefix)

    def link(self, scope: Scope, name: str, seconds: int) -> str:
        return self.inner.link(operator(scope.org), name, seconds)

    def upload_form(self, scope: Scope, name: str, content_type: str, max_bytes: int, seconds: int) -> UploadForm:
        return self.inner.upload_form(operator(scope.org), name, content_type, max_bytes, seconds)

    def upload(self, org: str, name: str, content: bytes) -> None:
        """Store an object as a client's upload does."""
        self.inner.put(operator(org), name, content, "application/octet-stream")

    def all(self, org: str = "acme") -> list[str]:
        """Return the names of all objects of an organisation."""
        return [name for owner, _, name in sorted(self.inner.objects) if owner == org]


class FakeJobQueue:
    """Implements `JobQueue`."""

    def __init__(self, faults: PortFaults | None = None) -> None:
        self.faults = faults or PortFaults()
        self.jobs: list[Job] = []

    def send(self, jobs: Sequence[Job]) -> None:
        with self.faults.call("send"):
            self.jobs += jobs


def _position(document: Document) -> str:
    return f"{document.created_at.isoformat()}|{document.id}"
