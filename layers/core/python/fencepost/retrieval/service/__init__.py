"""Use cases: the retriever, cached embedding, rewriting of follow-ups."""
