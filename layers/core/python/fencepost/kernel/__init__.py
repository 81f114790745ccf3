"""Basic types and functions that every package may use. Imports no other package of Fencepost.

    errors.py          error codes and exceptions
    ports.py           ports of the clock, the keys, and the fetcher of remote files
    clock.py           the system's clock; windows and times until they end
    ids.py             UUIDv7, quoting of key parts
    input_limits.py    limits of what clients may send
    money.py           micro-dollars, token usage, daily caps
    paging.py          pages of lists, signed cursors
    text.py            normalisation, folding for comparison, languages of scripts
    links.py           safe addresses and titles from documents
    markdown.py        headings and code blocks of Markdown
    json_lines.py      dataclasses as JSON Lines
    concurrency.py     concurrent calls
    aws/               DynamoDB, S3 and Secrets Manager

Tests: `tests/unit/kernel`.
"""
