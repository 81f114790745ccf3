"""Clients of AWS, and all access to DynamoDB.

    table.py         `Table`: get, put, update, delete, query, batches and transactions
    rows.py          base of row models; conversion between dataclasses and items
    expressions.py   conditions, actions and paths of pynamodb as fields of a request
    calls.py         single requests: errors, consumed capacity, retry policy
    batches.py       batch reads and writes, with unprocessed items
    transactions.py  writes of a transaction, and the reasons of cancellations
    session.py       DynamoDB clients of the process and of other credentials
    s3.py            S3 clients, likewise
    secrets.py       secrets and keys from Secrets Manager

No other package calls a DynamoDB client or writes an expression (`tests/infrastructure/test_one_table.py`).
"""
