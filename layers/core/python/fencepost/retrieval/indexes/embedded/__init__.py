"""The index in one SQLite file, for a laptop: words by FTS5, meaning by exact cosine."""
