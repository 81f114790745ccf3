"""What the index holds of a document's chunk: its words, the words around them, and who may find it."""

from __future__ import annotations

import hashlib
import json

from fencepost.domain.corpus import ChunkRow, Document
from fencepost.domain.retrieval import IndexEntry

_BETWEEN = " › "
_HASH_CHARACTERS = 16


def fingerprint(document: Document, model: str) -> str:
    """Return what tells whether entries were made as they would be made at present.

    It is of two parts: of what vectors are made of besides the text, and of who may find the entries.
    """
    rights = sorted(document.acl.grants(document.site))
    return f"{_hash(document.title, model)}.{_hash(document.language, *rights)}"


def has_vector(row: ChunkRow, entry: str) -> bool:
    """Tell whether a row's vector is the one that belongs into an entry made under this fingerprint."""
    return bool(row.vector) and row.entry.partition(".")[0] == entry.partition(".")[0]


def heading(title: str, breadcrumb: tuple[str, ...]) -> str:
    """Return the title and the headings above a chunk as one line. A first heading that is the title is left out."""
    headings = breadcrumb[1:] if breadcrumb[:1] == (title,) else breadcrumb
    return _BETWEEN.join(filter(None, (title, *headings)))


def passage(document: Document, row: ChunkRow) -> str:
    """Return what is embedded of a chunk: its headings, the sentences before it that it repeats, and its own text."""
    own = f"{row.lead}{row.text}".strip()
    above = heading(document.title, row.breadcrumb)
    return f"{above}\n{own}" if above else own


def entry_of(document: Document, row: ChunkRow) -> IndexEntry:
    """Return a chunk's entry. Its version is the one that the chunk came with: later ones leave it as it is."""
    return IndexEntry(
        chunk=row.id,
        org=document.org,
        owner="",
        kind="document",
        parent=document.id,
        version=row.since,
        text=row.text,
        context=heading(document.title, row.breadcrumb),
        grants=document.acl.grants(document.site),
        model=row.model,
        language=document.language,
        vector=row.vector,
    )


def _hash(*told: str) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:_HASH_CHARACTERS]
