"""The index in one SQLite file, for a laptop: words by FTS5, meaning by exact cosine."""

from __future__ import annotations

from fencepost.adapters.embedded.index import EmbeddedIndex

__all__ = ["EmbeddedIndex"]
