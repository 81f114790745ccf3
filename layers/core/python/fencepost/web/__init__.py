"""The web API as a whole: the order of checks, the OpenAPI document, health, and the admin API.

    api.py         the checks that all `/v1` routes share
    routes.py      the table of all routes, collected from the rooms
    openapi.py     the OpenAPI document, generated from that table
    meta.py        `GET /health` and `GET /openapi.json`
    admin/         `/v1/admin`: organisations, sites, members

Tests: `tests/unit/web`.
"""
