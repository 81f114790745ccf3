"""A cache of partitions' vectors as matrices in memory.

After a change only new vectors are read, because entries are immutable: they are only added and removed.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_ROWS: Final = 8_192
"""Vectors of one block."""
MOST_BLOCKS: Final = 32
"""Most blocks of a partition; more are joined into one."""
FLOAT_BYTES: Final = 4

_ROWS = """SELECT vectors.entry, entries.grant_set, vectors.value FROM vectors
    JOIN entries ON entries.id = vectors.entry
    WHERE vectors.partition = ? AND vectors.field = ? AND vectors.model = ? AND vectors.entry > ?
    AND length(vectors.value) = ? ORDER BY vectors.entry"""
_LIVE = "SELECT id FROM entries WHERE partition = ?"


@dataclass(frozen=True, slots=True)
class MatrixBlock:
    """Vectors of a partition, one in each row, in the order of their entries.

    Attributes:
        entries: row ids of the entries.
        grant_sets: ids of the entries' sets of grants.
        vectors: the matrix.
    """

    entries: NDArray[np.int64]
    grant_sets: NDArray[np.int64]
    vectors: NDArray[np.float32]

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.entries.nbytes + self.grant_sets.nbytes + self.vectors.nbytes

    def only(self, live: NDArray[np.int64]) -> MatrixBlock:
        """Return the block without removed entries."""
        import numpy as np

        there = np.isin(self.entries, live)
        if there.all():
            return self
        return MatrixBlock(self.entries[there], self.grant_sets[there], self.vectors[there])


@dataclass(frozen=True, slots=True)
class MatrixKey:
    """Key of cached vectors. A partition's id is never reused for another organisation, kind or owner."""

    partition: int
    field: str
    model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class _Kept:
    version: int
    blocks: tuple[MatrixBlock, ...]

    @property
    def size(self) -> int:
        return sum(block.size for block in self.blocks)

    @property
    def last(self) -> int:
        """Row id of the newest entry."""
        return max((int(block.entries[-1]) for block in self.blocks if len(block.entries)), default=0)


class Matrices:
    """Cache of the most recently used matrices. Safe to share between threads.

    Args:
        most_bytes: total size; a partition that is larger is read from the file for each search.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[MatrixKey, _Kept] = OrderedDict()
        self._lock = Lock()

    def blocks(self, database: sqlite3.Connection, key: MatrixKey, version: int) -> Iterable[MatrixBlock]:
        """Return the vectors of a partition, as of a version of it."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        if kept is None or kept.version > version:
            return self._read(database, key, version)
        if kept.version == version:
            return kept.blocks
        renewed = _Kept(version, _renewed(database, key, kept))
        self._keep(key, renewed)
        return renewed.blocks

    def _read(self, database: sqlite3.Connection, key: MatrixKey, version: int) -> Iterator[MatrixBlock]:
        read: list[MatrixBlock] | None = []
        size = 0
        for block in _blocks(database, key):
            size += block.size
            # Blocks that exceed the cache are not collected.
            read = [*read, block] if read is not None and size <= self._most_bytes else None
            yield block
        if read is not None:
            self._keep(key, _Kept(version, tuple(read)))

    def _keep(self, key: MatrixKey, kept: _Kept) -> None:
        with self._lock:
            known = self._kept.get(key)
            if known is None or known.version < kept.version:
                self._kept[key] = kept
                self._kept.move_to_end(key)
            while sum(each.size for each in self._kept.values()) > self._most_bytes:
                self._kept.popitem(last=False)


def _renewed(database: sqlite3.Connection, key: MatrixKey, kept: _Kept) -> tuple[MatrixBlock, ...]:
    import numpy as np

    live = np.fromiter((number for (number,) in database.execute(_LIVE, (key.partition,))), dtype=np.int64)
    # Row ids rise: entries added since have higher ids than all cached ones.
    blocks = (*(block.only(live) for block in kept.blocks), *_blocks(database, key, kept.last))
    return blocks if len(blocks) <= MOST_BLOCKS else (_joined(blocks),)


def _joined(blocks: Sequence[MatrixBlock]) -> MatrixBlock:
    import numpy as np

    return MatrixBlock(
        np.concatenate([block.entries for block in blocks]),
        np.concatenate([block.grant_sets for block in blocks]),
        np.concatenate([block.vectors for block in blocks]),
    )


def _blocks(database: sqlite3.Connection, key: MatrixKey, after: int = 0) -> Iterator[MatrixBlock]:
    import numpy as np

    rows = database.execute(_ROWS, (key.partition, key.field, key.model, after, FLOAT_BYTES * key.dimensions))
    while batch := rows.fetchmany(BLOCK_ROWS):
        entries, grant_sets, values = zip(*batch, strict=True)
        vectors = np.frombuffer(b"".join(values), dtype="<f4").reshape(len(batch), -1)
        yield MatrixBlock(np.array(entries), np.array(grant_sets), vectors)
