"""The local embedder with a cache of vectors on disk, so that only the first run of a benchmark embeds."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import batched
from pathlib import Path
from typing import Final

from fencepost.retrieval.domain.search import Vector
from fencepost.retrieval.local_embedder import LocalEmbedder

AT_ONCE: Final = 32
_KNOWN = "SELECT vector FROM vectors WHERE digest = ?"


class RememberedVectors:
    """Vectors cached in `$FENCEPOST_BENCH_CACHE`, by default in the system's temporary folder."""

    def __init__(self) -> None:
        folder = Path(os.environ.get("FENCEPOST_BENCH_CACHE", Path(tempfile.gettempdir()) / "fencepost-bench"))
        folder.mkdir(parents=True, exist_ok=True)
        self._embedder = LocalEmbedder()
        self._database = sqlite3.connect(folder / "vectors.db")
        self._database.execute("CREATE TABLE IF NOT EXISTS vectors(digest TEXT PRIMARY KEY, vector BLOB)")

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._embedder.model.name

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self._embedder.count(text)

    def passages(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of passages."""
        return self._vectors("passage", texts, self._embedder.passages)

    def questions(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of questions."""
        return self._vectors("query", texts, lambda some: tuple(map(self._embedder.query, some)))

    def _vectors(
        self, prefix: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Sequence[Vector]]
    ) -> dict[str, Vector]:
        known = {text: vector for text in set(texts) if (vector := self._known(self._digest(prefix, text)))}
        # Sort texts by length: the engine takes as long for each text of a batch as for the longest.
        missing = sorted(set(texts) - set(known), key=lambda text: (len(text), text))
        for some in batched(missing, AT_ONCE, strict=False):
            known |= zip(some, embed(some), strict=True)
            self._remember((self._digest(prefix, text), known[text]) for text in some)
        return known

    def _digest(self, prefix: str, text: str) -> str:
        return hashlib.sha256(f"{self.model}\n{prefix}\n{text}".encode()).hexdigest()

    def _known(self, digest: str) -> Vector | None:
        row = self._database.execute(_KNOWN, (digest,)).fetchone()
        return tuple(array("f", row[0])) if row else None

    def _remember(self, vectors: Iterable[tuple[str, Vector]]) -> None:
        rows = ((digest, array("f", vector).tobytes()) for digest, vector in vectors)
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
