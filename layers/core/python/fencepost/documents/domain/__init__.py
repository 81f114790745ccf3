"""Rules of documents, chunking, sections and sitemaps. No I/O."""
