"""The web API as a whole: the order of checks, the OpenAPI document, health, and the admin API.

    api.py         the checks that all `/v1` routes share
    openapi.py     the OpenAPI document, from the table of routes
    meta.py        `GET /health`, `GET /openapi.json`
    admin/         `/v1/admin`: organisations, sites, members

Tests: `tests/unit/web`.
"""
