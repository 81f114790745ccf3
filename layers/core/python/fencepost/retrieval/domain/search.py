"""Index entries, searches, hits and passages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

type Vector = tuple[float, ...]
"""An embedding, of length one."""
type EntryKind = Literal["document", "message"]

FETCH_FACTOR: Final = 3
"""Hits to request from each query for each wanted passage, because some are dropped later."""
_NUMBER: Final = re.compile(r"[0-9]{1,6}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """An embedding model. Vectors of different models are never compared.

    Attributes:
        name: includes everything that changes the vectors, e.g. `amazon.titan-embed-text-v2:0/1024`.
        dimensions: of each vector.
        max_tokens: of a text; the model truncates longer ones.
    """

    name: str
    dimensions: int
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """A chunk in the index.

    Attributes:
        chunk: id of the chunk's row, or of the message and its chunk.
        org: the organisation.
        owner: the owner of a message; empty for a document.
        parent: the document or the conversation.
        version: of the document, or of the message's content.
        grants: a reader needs one of them; empty for a message, which only its owner reads.
        text: the chunk's words, for the lexical query.
        context: the words around the chunk (headings and title, or neighbouring messages), which count less.
        vector: of the text, blended with its context by the ranking rules.
        context_vector: of the context; empty where the ranking rules use none.
        model: name of the embedding model.
        language: BCP 47; empty if unknown.
    """

    chunk: str
    org: str
    owner: str
    kind: EntryKind
    parent: str
    version: int
    text: str
    model: str
    context: str = ""
    grants: frozenset[str] = frozenset()
    language: str = ""
    position: int = 0
    vector: Vector = field(default=(), repr=False)
    context_vector: Vector = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The parameters of an index query. Organisation and owner come from the scope only.

    Attributes:
        grants: the reader's grants; for documents only.
        limit: most hits.
        exclude_parent: a conversation whose messages are left out, because the prompt holds them already.
    """

    kind: EntryKind
    grants: frozenset[str] = frozenset()
    limit: int = 30
    exclude_parent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """An entry that an index found. It is a hint; the row is authoritative.

    Attributes:
        score: BM25 or cosine, comparable within its list only; higher is better.
    """

    stored_id: str
    chunk: str
    parent: str
    version: int
    model: str
    score: float
    text: str = ""
    context: str = ""
    position: int = 0


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """State of an index. `asleep` is a collection that was scaled to zero and is waking up."""

    state: Literal["ok", "asleep", "down"]
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Text that may go into a prompt: its row exists, is current and may be read.

    Attributes:
        id: source id in fences and citations: `<document>#<chunk>` or `msg:<id>`.
        chunk: id of the row.
        version: of the document; 0 for a message.
        span: code points in the canonical text of the document, or in the message's content.
        position: the message's number in its conversation; 0 for a document.
        score: probability that the passage answers the question.
    """

    id: str
    kind: EntryKind
    parent: str
    chunk: str
    title: str
    url: str
    text: str
    version: int = 0
    score: float = 0.0
    span: tuple[int, int] | None = None
    position: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """Retrieved passages for a prompt.

    Attributes:
        passages: of documents, the best first; None where the reader may find no documents, or the search failed.
        memories: messages of the owner's other conversations, the best first.
    """

    passages: tuple[Passage, ...] | None = None
    memories: tuple[Passage, ...] = ()


NOTHING_RECALLED: Final = Recalled()
"""The result without an index, or when it does not answer."""


class IndexUnavailable(Exception):
    """The index does not answer, or refuses.

    Attributes:
        reason: short, without input.
        retriable: a retry may succeed.
    """

    def __init__(self, reason: str, *, retriable: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retriable = retriable


class EmbedderUnavailable(Exception):
    """The embedder does not answer, or refuses. Attributes are those of `IndexUnavailable`."""

    def __init__(self, reason: str, *, retriable: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retriable = retriable


def message_of(chunk: str) -> str:
    """Return the message id in the chunk id of a message's entry; empty for other chunk ids."""
    return chunk.rpartition("#")[0]


def number_of(chunk: str) -> int | None:
    """Return the chunk's number in its message, from the chunk id; None for other chunk ids."""
    number = chunk.rpartition("#")[2]
    return int(number) if _NUMBER.fullmatch(number) and message_of(chunk) else None
