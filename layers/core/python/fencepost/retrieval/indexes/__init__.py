"""Adapters of the `VectorIndex` port: one SQLite file, and OpenSearch."""
