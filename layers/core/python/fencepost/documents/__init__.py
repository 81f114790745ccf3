"""A site's documents: fetching, reading, chunking, indexing, versions, and the cached llms-full.txt.

    routes.py, schemas.py                 `/v1/documents`
    service/                              use cases: documents, ingest, versions, sitemaps, passages, llms_full_cache
    ports.py                              stores, readers, archive, ranking
    domain/                               documents, chunking, sections, sitemaps, index entries
    fetching/                             HTTP from untrusted hosts
    readers/                              HTML, Markdown, PDF and text to canonical text
    rows.py, dynamodb/, s3.py, sqlite.py  storage

"Document" means a row of an organisation's document store. The `llms-full.txt` of a site without such documents is a
`DocumentSet` of sections, held by `LlmsFullCache`.

Tests: `tests/unit/documents`.
"""
