"""What an index holds and gives back, and what a prompt gets of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

type Vector = tuple[float, ...]
"""An embedding, of length one."""

FETCH_FACTOR: Final = 3
"""Hits that each query asks for, for each passage that is wanted: what is dropped later must not starve the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """What makes vectors. Those of different models are never compared.

    Attributes:
        name: with everything that changes its vectors, e.g. `amazon.titan-embed-text-v2:0/1024`.
        dimensions: of each vector.
        max_tokens: of a text; what is beyond is cut by the model.
    """

    name: str
    dimensions: int
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """A chunk in the index.

    Attributes:
        chunk: its row's id: of a chunk, or of a message.
        org, owner: whose it is; a document's owner is empty.
        parent: the document or the conversation.
        version: of the parent (a document), or of the message's content.
        grants: of which a reader needs one; empty for a message, which its owner alone reads.
        text: its own words, for the lexical query.
        context: the words around it (headings and title, or the turns beside it), which count less.
        vector: of the text, in its context as the ranking rules put them together.
        context_vector: of the words around it; empty where the ranking rules use none.
        model: name of the embedding model.
        language: BCP 47, empty where unknown.
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
    """One question to an index. Organisation and owner come from the scope, and never from here.

    Attributes:
        grants: the reader's; only for documents.
        limit: most hits.
        exclude_parent: a conversation whose messages the prompt has already.
    """

    kind: EntryKind
    grants: frozenset[str] = frozenset()
    limit: int = 30
    exclude_parent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """What an index found. It is a hint: the truth is its row.

    Attributes:
        score: of its list alone: BM25, or cosine; higher is better.
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
    """How an index is. `asleep` is a collection scaled to zero that is waking."""

    state: Literal["ok", "asleep", "down"]
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What may go into a prompt: a row that was found, is there, is current and may be read.

    Attributes:
        id: as fences and citations name it: `<document>#<chunk>` or `msg:<id>`.
        chunk: its row's id.
        version: of the document that was read; 0 for a message.
        span: in the canonical text of the document, or in the message's content, in code points.
        position: the message's number in its conversation; 0 for a document.
        score: calibrated: the chance that it answers, from 0 to 1.
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
    """What was found for a prompt.

    Attributes:
        passages: of documents, the best first; None where there are none that the reader may find, or nothing tells.
        memories: messages of the owner's other conversations, the best first.
    """

    passages: tuple[Passage, ...] | None = None
    memories: tuple[Passage, ...] = ()


NOTHING_RECALLED: Final = Recalled()
"""Where there is no index, or it does not answer."""


class IndexUnavailable(Exception):
    """The index does not answer, or refuses. `reason` is short and holds no input; `retriable` where later may do."""

    def __init__(self, reason: str, *, retriable: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retriable = retriable


class EmbedderUnavailable(Exception):
    """The embedder does not answer, or refuses. As `IndexUnavailable`."""

    def __init__(self, reason: str, *, retriable: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retriable = retriable


type EntryKind = Literal["document", "message"]
_NUMBER: Final = re.compile(r"[0-9]{1,6}")


def message_of(chunk: str) -> str:
    """Return the id of the message that an entry's chunk is a part of; empty of what is none."""
    return chunk.rpartition("#")[0]


def number_of(chunk: str) -> int | None:
    """Return which part of its message an entry's chunk is; None of what is none."""
    number = chunk.rpartition("#")[2]
    return int(number) if _NUMBER.fullmatch(number) and message_of(chunk) else None
