"""Retrieval: the passages of documents and messages that may answer a question.

    domain/search.py         searches, hits, passages, index entries
    domain/ranking/          terms, fusion of both rankings, relevance and diversity, fields of messages
    domain/followups.py      the retrieval query for a follow-up question
    ports.py                 the index, the embedder, the cache of embeddings, hydration
    service/retriever.py     search, hydrate, choose, within a deadline
    indexes/                 SQLite on a laptop, OpenSearch in the cloud
    bedrock.py, local_embedder.py    embedders
    dynamodb.py, rows.py     the cache of embeddings

The scope is a filter inside each query, k-NN included, never on its results.
Tests: `tests/unit/retrieval`, `tests/integration/test_{embed*,opensearch*}.py`; `benchmarks/retrieval_quality.py`.
"""
