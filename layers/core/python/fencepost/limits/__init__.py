"""Caps on the daily bill, and limits on requests by client address.

The promise: no burst, retry, crash or race commits more than the configured amount a day. `domain/ledger.py` is the
arithmetic, `dynamodb/ledger.py` the conditional update that enforces it (docs/adr/0005, 0006).

    domain/prices.py         prices of models, costs and worst cases of calls
    domain/ledger.py         the day's bill, reservations and block leases
    domain/requests.py       request rates, and the canonical form of client addresses
    ports.py                 the ledger, and the address limiter
    service/                 block leasing, headroom, site caps, the address guard
    dynamodb/                ledger and limiter

Tests: `tests/unit/limits`, `tests/integration/test_{ledger*,limiter,site_caps}.py`.
"""
