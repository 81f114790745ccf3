"""Use cases of documents."""
