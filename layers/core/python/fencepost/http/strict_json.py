"""A strict reader of JSON (RFC 8259) for input from anybody.

The standard library's parser does the reading; what it lets pass and no honest client sends is refused here.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, NoReturn

from fencepost.kernel.errors import ErrorCode, FencepostError

MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 64

# Possessive, and content with a missing end quote: linear in the length, whatever the input.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def read_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object in UTF-8.

    Refused as well: duplicate keys, `NaN` and `Infinity`, lone surrogates, a byte order mark and nesting over
    `MAX_DEPTH`.

    Raises:
        FencepostError: `body_too_large`, `invalid_json` or `not_an_object`.
    """
    if len(body) > MAX_BODY_BYTES:
        raise FencepostError(ErrorCode.BODY_TOO_LARGE)
    try:
        value = _parse(body)
    except ValueError:
        # The parser's message quotes the input: it goes no further.
        raise FencepostError(ErrorCode.INVALID_JSON) from None
    if not isinstance(value, dict):
        raise FencepostError(ErrorCode.NOT_AN_OBJECT)
    return value


def _parse(body: bytes) -> object:
    # Before parsing, since the parser recurses.
    if _depth(body) > MAX_DEPTH:
        raise ValueError("nested too deep")
    value: object = json.loads(
        body.decode("utf-8"),
        object_pairs_hook=_unique,
        parse_constant=_refuse,
        # No field is a number, and reading a long integer exactly takes quadratic time.
        parse_int=float,
    )
    # A lone surrogate, escaped in the input, cannot be encoded again.
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _depth(body: bytes) -> int:
    brackets = _STRING.sub(b"", body).translate(None, _NO_BRACKET)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("duplicate key")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
