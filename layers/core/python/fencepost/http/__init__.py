"""The parts that every `routes.py` is made of: requests, responses, the route table, errors and CORS.

    proxy.py       requests and responses as API Gateway's proxy integration sends and expects them
    routing.py     one row for each route, with its OpenAPI operation; groups of routes; the router
    errors.py      one row for each error code
    body.py        strict JSON bodies and query parameters, validated by models
    schemas.py     models and field types that several rooms share
    cursors.py     signed cursors of paged lists
    cors.py        which origins may call the API
    endpoint.py    the Lambda handler around a route: errors mapped, outcomes reported

Promise: no client fault is answered with 500, and no error answer contains input, stack or secret.

Tests: `tests/unit/http`.
"""
