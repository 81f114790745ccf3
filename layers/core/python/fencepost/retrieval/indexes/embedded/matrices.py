"""The vectors of a partition as matrices, kept in memory while there is room.

After a change only what is new is read: an entry never changes, it goes and another comes.
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
"""Vectors that are read at once."""
MOST_BLOCKS: Final = 32
"""Blocks of a partition, above which they are made one."""
FLOAT_BYTES: Final = 4

_ROWS = """SELECT vectors.entry, entries.grant_set, vectors.value FROM vectors
    JOIN entries ON entries.id = vectors.entry
    WHERE vectors.partition = ? AND vectors.field = ? AND vectors.model = ? AND vectors.entry > ?
    AND length(vectors.value) = ? ORDER BY vectors.entry"""
_LIVE = "SELECT id FROM entries WHERE partition = ?"


@dataclass(frozen=True, slots=True)
class MatrixBlock:
    """Some vectors of a partition, one a row, in the order of their entries.

    Attributes:
        entries: the numbers of the entries that they belong to.
        grant_sets: the numbers of these entries' sets of grants.
    """

    entries: NDArray[np.int64]
    grant_sets: NDArray[np.int64]
    vectors: NDArray[np.float32]

    @property
    def size(self) -> int:
        """The bytes that it takes."""
        return self.entries.nbytes + self.grant_sets.nbytes + self.vectors.nbytes

    def only(self, live: NDArray[np.int64]) -> MatrixBlock:
        """Return it without the entries that are gone."""
        import numpy as np

        there = np.isin(self.entries, live)
        if there.all():
            return self
        return MatrixBlock(self.entries[there], self.grant_sets[there], self.vectors[there])


@dataclass(frozen=True, slots=True)
class MatrixKey:
    """Whose vectors they are. A partition's number stands for one organisation, kind and owner, for ever."""

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
        """The number of the newest entry."""
        return max((int(block.entries[-1]) for block in self.blocks if len(block.entries)), default=0)


class Matrices:
    """Keeps the matrices that were used last. Threads may share it.

    Args:
        most_bytes: of all together; a partition that is larger by itself is read anew for each search.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[MatrixKey, _Kept] = OrderedDict()
        self._lock = Lock()

    def blocks(self, database: sqlite3.Connection, key: MatrixKey, version: int) -> Iterable[MatrixBlock]:
        """Return the vectors of a partition as of a change of it."""
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
            # Nothing is hoarded of what will not be kept.
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
    # Numbers rise: whatever came since has a higher one than all that was kept.
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
