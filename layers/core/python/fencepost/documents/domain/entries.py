"""What the index holds of a document's chunk: its words, the words around them, and who may find it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from fencepost.documents.domain.chunking import spoken
from fencepost.documents.domain.documents import ChunkRow, Document
from fencepost.documents.domain.fields import document_fields
from fencepost.retrieval.domain.ranking.fields import Fields
from fencepost.retrieval.domain.search import IndexEntry

_HASH_CHARACTERS = 16


def fingerprint(document: Document, model: str) -> str:
    """Return what tells whether entries were made as they would be made at present.

    It is of two parts: of what vectors are made of besides the text, and of who may find the entries.
    """
    rights = sorted(document.acl.grants(document.site))
    return f"{_hash(document.title, document.url, model)}.{_hash(document.language, *rights)}"


def has_vector(row: ChunkRow, entry: str) -> bool:
    """Tell whether a row's vector is the one that belongs into an entry made under this fingerprint."""
    return bool(row.vector) and row.entry.partition(".")[0] == entry.partition(".")[0]


def passage(document: Document, row: ChunkRow) -> str:
    """Return what is embedded of a chunk: what is markup alone has no meaning."""
    return _fields(document, replace(row, text=spoken(row.text))).passage


def entry_of(document: Document, row: ChunkRow) -> IndexEntry:
    """Return a chunk's entry. Its version is the one that the chunk came with: later ones leave it as it is."""
    fields = _fields(document, row)
    return IndexEntry(
        chunk=row.id,
        org=document.org,
        owner="",
        kind="document",
        parent=document.id,
        version=row.since,
        text=fields.text,
        context=fields.context,
        grants=document.acl.grants(document.site),
        model=row.model,
        language=document.language,
        vector=row.vector,
    )


def _fields(document: Document, row: ChunkRow) -> Fields:
    return document_fields(document.title, row, row.url or document.url)


def _hash(*told: str) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:_HASH_CHARACTERS]
