"""Authentication and reported authorisation: tokens, callers, visitors and tenant sessions.

    ports.py       visitor tokens, member tokens, key sets
    service/       authorisation with its event; issuing visitor tokens
    tokens/        JSON Web Tokens of visitors and of OpenID providers
    callers.py     from a request's headers to a `Caller`
    sts.py         credentials that reach one organisation's rows only (docs/adr/0010)
    routes.py      `POST /v1/visitors`

Tests: `tests/unit/access`.
"""
