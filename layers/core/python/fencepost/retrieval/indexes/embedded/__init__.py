"""The index in one SQLite file, for a laptop: words by FTS5, meaning by exact cosine."""

from __future__ import annotations

from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex

__all__ = ["EmbeddedIndex"]
