"""The capped bill and the request limits: prices, the ledger, block leases, site caps, address limits.

The promise: no burst, retry, crash or race commits more than the configured amount a day. `domain/ledger.py` is the
arithmetic, `dynamodb/ledger.py` the one conditional update that enforces it (docs/adr/0005, 0006).

    domain/        prices, costs, the day's bill, request rates, client addresses
    ports.py       the ledger, and the limiter of addresses
    service/       block leasing, headroom, site caps, the address guard
    dynamodb/      ledger and limiter

Tests: `tests/unit/limits`, `tests/integration/test_ledger*.py`.
"""
