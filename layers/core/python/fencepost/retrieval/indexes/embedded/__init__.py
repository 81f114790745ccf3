"""The index in one SQLite file, for a laptop: lexical search by FTS5, vector search by exact cosine."""
