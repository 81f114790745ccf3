"""Authentication and reported authorisation: tokens, callers, visitors and tenant sessions.

    domain.py      a cache bound to scopes
    ports.py       visitor tokens, member tokens, key sets
    service.py     authorisation with its event; issuing visitor tokens
    tokens/        JSON Web Tokens of visitors and of OpenID providers
    callers.py     the `Caller` of a request's headers
    sts.py         credentials restricted to one organisation's rows and objects (docs/adr/0010)
    routes.py      `POST /v1/visitors`

Tests: `tests/unit/access`.
"""
