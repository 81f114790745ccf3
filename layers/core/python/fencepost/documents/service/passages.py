"""From hits to passages: what the index found is a hint, and what the rows say is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from fencepost.documents.domain.documents import ChunkRow, Document, DocumentState
from fencepost.documents.domain.entries import heading
from fencepost.documents.ports import DocumentStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.links import plain_text, safe_url
from fencepost.retrieval.domain.ranking.fusion import FusionKey, key_of
from fencepost.retrieval.domain.search import Hit, Passage
from fencepost.retrieval.ports import Hydrated

SHORT_ID = 8
"""Hexadecimal digits of a chunk's id in a citation; more where two would be the same."""


@dataclass(frozen=True, slots=True)
class DocumentPassages:
    """Implements `Hydrator` for documents."""

    corpus: DocumentStore

    def hydrate(self, scope: Scope, grants: frozenset[str], hits: Sequence[Hit]) -> Hydrated:
        """See `Hydrator`. A document's ACL is that of its row, whatever its entries say."""
        documents, rows = self.corpus.hydrate(scope, list(dict.fromkeys(map(key_of, hits))))
        passages, dead = dict[FusionKey, Passage](), list[Hit]()
        for hit in hits:
            document, row = documents.get(hit.parent), rows.get(key_of(hit))
            if _is_gone(document, row):
                dead.append(hit)
            elif document and row and _may_read(scope, grants, document) and row.is_part_of(document.version):
                passages[key_of(hit)] = _passage(document, row)
        return Hydrated(passages, tuple(dead))

    def finish(self, scope: Scope, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """See `Hydrator`: where they stand in the version that was read, and short ids."""
        wanted = [(passage.parent, passage.version, passage.chunk) for passage in passages]
        places = self.corpus.places(scope, wanted) if wanted else {}
        spans = {key: (place.start, place.end) for key, place in places.items()}
        return tuple(replace(each, span=spans.get((each.parent, each.chunk))) for each in named(passages))


def named(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return passages of documents with ids as short as they can be: `<document>#<first digits of the chunk's id>`."""

    def digits(passage: Passage) -> int:
        others = {one.chunk for one in passages if one.parent == passage.parent} - {passage.chunk}
        return next(n for n in count(SHORT_ID) if not any(one.startswith(passage.chunk[:n]) for one in others))

    return tuple(replace(each, id=f"{each.parent}#{each.chunk[: digits(each)]}") for each in passages)


def _is_gone(document: Document | None, row: ChunkRow | None) -> bool:
    if document is None or document.state is DocumentState.REMOVED or row is None:
        return True
    return row.until is not None and row.until <= document.version


def _may_read(scope: Scope, grants: frozenset[str], document: Document) -> bool:
    return document.org == scope.org and not grants.isdisjoint(document.acl.grants(document.site))


def _passage(document: Document, row: ChunkRow) -> Passage:
    url = row.url or document.url
    return Passage(
        id=f"{document.id}#{row.id}",
        kind="document",
        parent=document.id,
        chunk=row.id,
        version=document.version,
        title=plain_text(heading(document.title, row.breadcrumb)),
        # Addresses come from documents and from whoever uploads them: only what is inert is shown.
        url=safe_url(url),
        text=f"{row.lead}{row.text}",
    )
