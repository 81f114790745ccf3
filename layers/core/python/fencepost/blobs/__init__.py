"""Objects in S3, each below the prefix of its owner: large contents, archived blocks, bundles, uploads.

    domain.py      the names of objects
    ports.py       the store of objects and the forms for uploads
    s3.py          the store on S3

The names hold content hashes or random ids, never a person's words. Tests: `tests/unit/blobs`.
"""
