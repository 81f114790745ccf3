"""Index entries of chunks: their text, context and grants, and the fingerprint that tells whether they are outdated."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from fencepost.documents.domain.chunking.noise import without_noise
from fencepost.documents.domain.documents import Chunk, ChunkRow, Document
from fencepost.retrieval.domain.ranking.fields import Fields
from fencepost.retrieval.domain.search import IndexEntry

_HASH_CHARACTERS = 16


def fingerprint(document: Document, model: str) -> str:
    """Return the fingerprint of a document's entries. Entries with another fingerprint are outdated.

    It has two parts, joined by a dot: a hash of everything besides the text that vectors depend on, and a hash of who
    may find the entries.
    """
    rights = sorted(document.acl.grants(document.site))
    return f"{_hash(document.title, document.url, model)}.{_hash(document.language, *rights)}"


def has_vector(row: ChunkRow, entry: str) -> bool:
    """Tell whether a row has a vector that is right for entries with a fingerprint."""
    return bool(row.vector) and row.entry.partition(".")[0] == entry.partition(".")[0]


def passage(document: Document, row: ChunkRow) -> str:
    """Return the text of a chunk that is embedded: without noise, with its context."""
    return _fields(document, replace(row, text=without_noise(row.text))).passage


def entry_of(document: Document, row: ChunkRow) -> IndexEntry:
    """Return a chunk's entry. Its version is the first that has the chunk, so later ones do not change the entry."""
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


def _hash(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_HASH_CHARACTERS]


_SEPARATOR = " › "
_NON_WORDS = re.compile(r"[\W_]+")
_GENERIC_WORDS = frozenset(["doc", "docs", "documentation", "en", "www", "index"])


def document_fields(title: str, chunk: Chunk | ChunkRow, url: str = "") -> Fields:
    """Return the index fields of a chunk. Its context is the words of its address, the title and the headings."""
    context = _SEPARATOR.join(filter(None, (address_words(url), heading(title, chunk.breadcrumb))))
    own = f"{chunk.lead}{chunk.text}".strip()
    return Fields(chunk.text, context, f"{context}\n{own}" if context else own)


def heading(title: str, breadcrumb: Sequence[str]) -> str:
    """Return the title and the headings above a chunk as one line. A first heading equal to the title is left out."""
    headings = breadcrumb[1:] if tuple(breadcrumb[:1]) == (title,) else breadcrumb
    return _SEPARATOR.join(filter(None, (title, *headings)))


def address_words(url: str) -> str:
    """Return the words of an address's path: `tool use` for `https://x.example/en/docs/tool-use.html`.

    Generic words such as `docs` are left out. An invalid address has no words.
    """
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return ""
    parts = (_NON_WORDS.sub(" ", part).strip() for part in path.removesuffix(".html").split("/"))
    return _SEPARATOR.join(part for part in parts if part and part.casefold() not in _GENERIC_WORDS)
