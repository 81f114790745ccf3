"""HTTP fetching of documents from untrusted hosts."""
