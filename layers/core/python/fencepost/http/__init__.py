"""The parts that every `routes.py` is made of: requests, responses, the route table, errors and CORS.

    proxy.py       API Gateway's proxy events in and out
    routing.py     one row for each route
    errors.py      one row for each error code
    body.py        strict JSON bodies and queries, validated
    cors.py        which origins may call
    endpoint.py    the Lambda handler around a route

Tests: `tests/unit/http`.
"""
