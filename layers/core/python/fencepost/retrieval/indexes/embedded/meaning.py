"""Vector search in the embedded index: exact cosine with every vector of the partition."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fencepost.retrieval.domain.search import Search, Vector
from fencepost.retrieval.indexes.embedded import partitions
from fencepost.retrieval.indexes.embedded.matrices import MatrixBlock
from fencepost.retrieval.indexes.embedded.partitions import Partition
from fencepost.retrieval.indexes.embedded.words import Scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OF_PARENT = "SELECT id FROM entries WHERE partition = ? AND parent = ?"


def find(
    database: sqlite3.Connection, partition: Partition, search: Search, blocks: Iterable[MatrixBlock], near: Vector
) -> list[Scored]:
    """Return the entries whose vectors are nearest, the best first, ties with the newest first."""
    import numpy as np

    filtered = _Filter(database, partition, search)
    query = np.array(near, dtype=np.float32)
    parts = [filtered.scored(block, query) for block in blocks]
    if not parts:
        return []
    entries, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
    best = np.lexsort((-entries, -scores))[: search.limit]
    return list(zip(entries[best].tolist(), scores[best].tolist(), strict=True))


class _Filter:
    """The filter of a search by grants and by excluded parent."""

    def __init__(self, database: sqlite3.Connection, partition: Partition, search: Search) -> None:
        self._readable = partitions.readable(database, partition.id, search)
        excluded = database.execute(_OF_PARENT, (partition.id, search.exclude_parent))
        self._excluded = [number for (number,) in excluded]
        self._limit = search.limit

    def scored(self, block: MatrixBlock, query: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return row ids and scores of the block's best entries that pass the filter."""
        import numpy as np

        keep = np.isin(block.grant_sets, self._readable) & ~np.isin(block.entries, self._excluded)
        if not keep.any():
            return block.entries[:0], block.vectors[:0, 0]
        scores = block.vectors @ query
        entries = block.entries if keep.all() else block.entries[keep]
        scores = scores if keep.all() else scores[keep]
        if len(scores) <= self._limit:
            return entries, scores
        best = np.argpartition(-scores, self._limit - 1)[: self._limit]
        return entries[best], scores[best]
