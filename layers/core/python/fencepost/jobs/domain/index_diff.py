"""What the index and the tables have to agree on, and how far a comparison has come."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from fencepost.documents.domain.documents import ChunkRow
from fencepost.memory.domain.chunk_rows import MessageChunkRow


class Finding(StrEnum):
    """How an entry and its row disagree."""

    VECTOR_WITHOUT_ROW = "vector_without_row"
    """An entry that no row knows."""
    ROW_WITHOUT_VECTOR = "row_without_vector"
    """A row whose entry the index does not show."""
    WRONG_VERSION = "wrong_version"
    """An entry of another version than its row's, or what is left of an older one, entry or row."""
    WRONG_MODEL = "wrong_model"
    """What was made by another model than the present one, or under another title, address or rights."""


class DiffStep(StrEnum):
    """The parts of one comparison, in their order."""

    ENTRIES = "entries"
    DOCUMENTS = "documents"
    CONVERSATIONS = "conversations"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffProgress:
    """Where the comparison of an organisation goes on.

    Attributes:
        after: where the step's list goes on; None from its beginning.
        within: where the rows of the document go on that is the next in the list.
    """

    step: DiffStep = DiffStep.ENTRIES
    after: str | None = None
    within: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRow:
    """What a row tells of its entry. `stored_id` and `stale_id` are empty where there is none."""

    stored_id: str
    stale_id: str
    version: int
    model: str


def of_chunk(row: ChunkRow) -> IndexedRow:
    """Return what a chunk's row knows: its entry bears the version that the chunk came with."""
    return IndexedRow(stored_id=row.stored_id, stale_id=row.stale_id, version=row.since, model=row.model)


def of_part(row: MessageChunkRow) -> IndexedRow:
    """Return what the row of a message's part knows."""
    return IndexedRow(stored_id=row.stored_id, stale_id=row.stale_id, version=row.version, model=row.model)


def entry_finding(stored_id: str, version: int, model: str, known: IndexedRow | None) -> Finding | None:
    """Return what is wrong with an entry, beside its row; None is no row."""
    if known is None or stored_id not in (known.stored_id, known.stale_id):
        return Finding.VECTOR_WITHOUT_ROW
    if stored_id == known.stale_id or version != known.version:
        return Finding.WRONG_VERSION
    return Finding.WRONG_MODEL if model != known.model else None


def row_finding(known: IndexedRow, visible: AbstractSet[str], model: str) -> Finding | None:
    """Return what is wrong with a current row, beside the entries that the index shows.

    An older entry that is left is found by itself, where it is still there; a row must not remember it for ever.
    """
    if known.stored_id not in visible:
        return Finding.ROW_WITHOUT_VECTOR
    if known.model != model:
        return Finding.WRONG_MODEL
    return Finding.WRONG_VERSION if known.stale_id else None
