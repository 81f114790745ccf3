"""The fields by which a chunk of a document is found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from fencepost.documents.domain.documents import Chunk, ChunkRow
from fencepost.retrieval.domain.ranking.fields import Fields

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
