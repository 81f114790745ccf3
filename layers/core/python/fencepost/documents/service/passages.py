"""Hydrates hits in documents into passages. Texts and access rights come from rows, never from the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from fencepost.documents.domain.documents import ChunkRow, Document, DocumentState, is_left_over
from fencepost.documents.domain.entries import heading
from fencepost.documents.ports import DocumentStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.links import plain_text, safe_url
from fencepost.retrieval.domain.ranking.fusion import FusionKey, key_of
from fencepost.retrieval.domain.search import Hit, Passage
from fencepost.retrieval.ports import Hydrated

SHORT_ID = 8
"""Hexadecimal digits of a chunk's id in a citation. More are used if two ids would be the same."""


@dataclass(frozen=True, slots=True)
class DocumentPassages:
    """Implements `Hydrator` for documents."""

    store: DocumentStore

    def hydrate(self, scope: Scope, grants: frozenset[str], hits: Sequence[Hit]) -> Hydrated:
        """Return the passages of hits. The ACL that applies is that of the document's row, not of the index entry."""
        documents, rows = self.store.hydrate(scope, list(dict.fromkeys(map(key_of, hits))))
        passages, dead = dict[FusionKey, Passage](), list[Hit]()
        for hit in hits:
            document, row = documents.get(hit.parent), rows.get(key_of(hit))
            if _is_gone(document, row):
                dead.append(hit)
            elif document and row and row.is_part_of(document.version):
                readers = document.acl.grants(document.site)
                if document.org == scope.org and not grants.isdisjoint(readers):
                    passages[key_of(hit)] = _passage(document, row)
        return Hydrated(passages, tuple(dead))

    def finish(self, scope: Scope, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Return passages with short ids and their spans in the version that was read."""
        wanted = [(passage.parent, passage.version, passage.chunk) for passage in passages]
        places = self.store.places(scope, wanted) if wanted else {}
        spans = {key: (place.start, place.end) for key, place in places.items()}
        return tuple(replace(each, span=spans.get((each.parent, each.chunk))) for each in named(passages))


def named(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return passages with ids as short as is unique: `<document>#<first digits of the chunk's id>`."""

    def digits(passage: Passage) -> int:
        others = {one.chunk for one in passages if one.parent == passage.parent} - {passage.chunk}
        return next(n for n in count(SHORT_ID) if not any(one.startswith(passage.chunk[:n]) for one in others))

    return tuple(replace(each, id=f"{each.parent}#{each.chunk[: digits(each)]}") for each in passages)


def _is_gone(document: Document | None, row: ChunkRow | None) -> bool:
    """Tell whether a hit's chunk no longer exists, so that its index entry may be removed."""
    if document is None or document.state is DocumentState.REMOVED or row is None:
        return True
    return is_left_over(row, document)


def _passage(document: Document, row: ChunkRow) -> Passage:
    url = row.url or document.url
    return Passage(
        id=f"{document.id}#{row.id}",
        kind="document",
        parent=document.id,
        chunk=row.id,
        version=document.version,
        title=plain_text(heading(document.title, row.breadcrumb)),
        # Addresses come from documents and from those who upload them, so only safe ones are shown.
        url=safe_url(url),
        text=f"{row.lead}{row.text}",
    )
