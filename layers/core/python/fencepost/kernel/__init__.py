"""Primitives that every package may use: errors, ids, text, cursors, money, clocks and access to AWS.

    errors.py          every machine code that Fencepost answers with
    text/              normalisation, folding, languages, links, Markdown lines
    aws/               sessions, tables, transactions, S3, secrets
    ports.py           the clock, the keys, and the fetcher of remote files
    money.py           micro-dollars, token usage and daily caps

The kernel imports no other package of Fencepost. Tests: `tests/unit/kernel`.
"""
