"""Documents and chunks as tests need them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

from fencepost.documents.domain.documents import ChunkRow, Document, DocumentKind, DocumentOrigin, DocumentState
from fencepost.identity.domain.scope import Acl

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def document(document_id: str = "d1", **fields: object) -> Document:
    """Return a document of `acme`'s site `docs` that was just queued."""
    row = Document(
        id=document_id,
        org="acme",
        site="docs",
        title="Guide",
        kind=DocumentKind.MARKDOWN,
        origin=DocumentOrigin.INLINE,
        acl=Acl(),
        state=DocumentState.QUEUED,
        created_at=NOON,
        updated_at=NOON,
    )
    return replace(row, **fields)  # type: ignore[arg-type]  # fields by name


def chunk(name: str, document_id: str = "d1", **fields: object) -> ChunkRow:
    """Return a chunk's row; its id is made of the name."""
    row = ChunkRow(id=chunk_id(name), document=document_id, text=name, breadcrumb=("Guide",), lead="", since=1)
    return replace(row, **fields)  # type: ignore[arg-type]  # fields by name


def chunk_id(name: str) -> str:
    """Return an id like those that the chunker makes."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]
