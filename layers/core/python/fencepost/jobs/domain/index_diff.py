"""Compare entries of the vector index with their rows, and hold the progress of a comparison."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from fencepost.documents.domain.documents import ChunkRow
from fencepost.memory.domain.chunk_rows import MessageChunkRow


class Finding(StrEnum):
    """A disagreement between an entry of the index and its row."""

    VECTOR_WITHOUT_ROW = "vector_without_row"
    """The index has an entry that no row refers to."""
    ROW_WITHOUT_VECTOR = "row_without_vector"
    """A row refers to an entry that the index does not return."""
    WRONG_VERSION = "wrong_version"
    """The entry has another version than its row, or an entry or row of an older version is left."""
    WRONG_MODEL = "wrong_model"
    """The entry was made by another embedding model, or under another title, address or rights."""


class DiffStep(StrEnum):
    """The steps of a comparison, in order: what each lists."""

    ENTRIES = "entries"
    DOCUMENTS = "documents"
    CONVERSATIONS = "conversations"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffProgress:
    """Where the comparison of an organisation continues.

    Attributes:
        after: key in the step's list after which it continues; None at its beginning.
        within: key after which the rows of the list's next document continue; None at their beginning.
    """

    step: DiffStep = DiffStep.ENTRIES
    after: str | None = None
    within: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRow:
    """The part of a row that describes its entry. `stored_id` and `stale_id` are empty if there is no such entry."""

    stored_id: str
    stale_id: str
    version: int
    model: str


def of_document_chunk(row: ChunkRow) -> IndexedRow:
    """Return the entry's description in a document chunk's row. Its version is the first that has the chunk."""
    return IndexedRow(stored_id=row.stored_id, stale_id=row.stale_id, version=row.since, model=row.model)


def of_message_chunk(row: MessageChunkRow) -> IndexedRow:
    """Return the entry's description in a message chunk's row."""
    return IndexedRow(stored_id=row.stored_id, stale_id=row.stale_id, version=row.version, model=row.model)


def entry_finding(stored_id: str, version: int, model: str, known: IndexedRow | None) -> Finding | None:
    """Return how an entry of the index disagrees with its row; `known` is None if there is no row."""
    if known is None or stored_id not in (known.stored_id, known.stale_id):
        return Finding.VECTOR_WITHOUT_ROW
    if stored_id == known.stale_id or version != known.version:
        return Finding.WRONG_VERSION
    return Finding.WRONG_MODEL if model != known.model else None


def row_finding(known: IndexedRow, visible: AbstractSet[str], model: str) -> Finding | None:
    """Return how a current row disagrees with the entries that the index returns.

    Args:
        known: the row.
        visible: ids of the entries that the index returns.
        model: name of the current embedding model.

    A row that still names a stale entry is a finding too, so that a repair clears the name.
    """
    if known.stored_id not in visible:
        return Finding.ROW_WITHOUT_VECTOR
    if known.model != model:
        return Finding.WRONG_MODEL
    return Finding.WRONG_VERSION if known.stale_id else None
