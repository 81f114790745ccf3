"""A site's documents: fetching, reading, chunking, indexing, versions, and the cached llms-full.txt.

    domain/        documents, chunking, sections, sitemaps, index entries
    ports.py       stores, readers and fetchers
    service/       use cases: ingest, versions, sources, passages
    fetching/      HTTP against hostile hosts
    readers/       HTML, Markdown, PDF to canonical text
    rows/, dynamodb/, s3.py, sqlite.py    storage
    routes.py      `/v1/documents`

Tests: `tests/unit/documents`.
"""
