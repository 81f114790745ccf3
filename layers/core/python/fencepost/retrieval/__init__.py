"""Finding passages: ranking, the retriever, follow-ups, embedders and vector indexes.

    domain/        searches and hits, terms, ranking, follow-up questions
    ports.py       the index, the embedder, the cache of embeddings
    service/       the retriever, cached embedding, rewriting of follow-ups
    indexes/       SQLite on a laptop, OpenSearch in the cloud
    bedrock.py, local_embedder.py    embedders

The scope is a filter inside each k-NN query, never on its results. Tests: `tests/unit/retrieval`,
`tests/integration/test_*index*.py`.
"""
