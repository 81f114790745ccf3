"""Clients of AWS, and the one way to DynamoDB.

`session`       the client of a process, or of a session's credentials
`rows`          row models: keys, attributes and types of a kind of row; dataclasses as items and back
`expressions`   pynamodb's conditions, actions and paths as the fields of a request
`retries`       one policy for conflicts, throttling and unprocessed items
`calls`         one request, its errors and its consumed capacity
`transactions`  the writes of a transaction, and why one was cancelled
`table`         `Table`: get, put, update, delete, query, batches and transactions

No other package calls a DynamoDB client or writes an expression (`tests/infrastructure/test_one_table.py`).
"""
