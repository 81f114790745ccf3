"""What the index holds of a document's chunk: its words, the words around them, and who may find it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from fencepost.documents.domain.chunking.noise import spoken
from fencepost.documents.domain.documents import Chunk, ChunkRow, Document
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


_BETWEEN = " › "
_NO_WORDS = re.compile(r"[\W_]+")
_NO_SUBJECTS = frozenset(["doc", "docs", "documentation", "en", "www", "index"])


def document_fields(title: str, chunk: Chunk | ChunkRow, url: str = "") -> Fields:
    """Return the fields of a document's chunk: the title, the headings and the address's words are its context."""
    place = _BETWEEN.join(filter(None, (address_words(url), heading(title, chunk.breadcrumb))))
    own = f"{chunk.lead}{chunk.text}".strip()
    return Fields(chunk.text, place, f"{place}\n{own}" if place else own)


def heading(title: str, breadcrumb: Sequence[str]) -> str:
    """Return the title and the headings above a chunk as one line. A first heading that is the title is left out."""
    headings = breadcrumb[1:] if tuple(breadcrumb[:1]) == (title,) else breadcrumb
    return _BETWEEN.join(filter(None, (title, *headings)))


def address_words(url: str) -> str:
    """Return the words of an address's path: `https://x.example/en/docs/tool-use.html` has `tool use`."""
    parts = (_NO_WORDS.sub(" ", part).strip() for part in unquote(_path(url)).removesuffix(".html").split("/"))
    return _BETWEEN.join(part for part in parts if part and part.casefold() not in _NO_SUBJECTS)


def _path(url: str) -> str:
    """Return an address's path; empty of what is none."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""
