"""Objects in S3 under their owner's prefix: big contents, archived blocks, bundles, uploads, documents.

    domain.py      the names of objects
    ports.py       the object store, and forms for uploads
    s3.py          the store on S3

Names hold content hashes and random ids, never content. Tests: `tests/unit/blobs`.
"""
